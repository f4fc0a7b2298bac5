# CIFAR-100, downloaded once into data/cifar100. From one WebP file a class there instead, with all
# else the same: train_dataloader.dataset.type=CIFARTiles, and so for val and test.
data_preprocessor = dict(
    num_classes=100,
    mean=[129.3, 124.1, 112.4],
    std=[68.2, 65.4, 70.4],
    # The reader gives RGB already.
    to_rgb=False,
)

train_pipeline = [
    dict(type='RandomCrop', crop_size=32, padding=4),
    dict(type='RandomFlip', prob=0.5, direction='horizontal'),
    dict(type='PackInputs'),
]
test_pipeline = [
    dict(type='PackInputs'),
]

train_dataloader = dict(
    batch_size=128,
    num_workers=4,
    drop_last=True,
    sampler=dict(type='DefaultSampler', shuffle=True),
    dataset=dict(
        type='CIFAR100',
        data_root='data/cifar100',
        split='train',
        pipeline=train_pipeline,
    ),
)
val_dataloader = dict(
    batch_size=128,
    num_workers=4,
    sampler=dict(type='DefaultSampler', shuffle=False),
    dataset=dict(
        type='CIFAR100',
        data_root='data/cifar100',
        split='test',
        test_mode=True,
        pipeline=test_pipeline,
    ),
)
val_evaluator = dict(type='Accuracy', topk=(1,))

test_dataloader = val_dataloader
test_evaluator = val_evaluator
