# CIFAR-10, downloaded once into data/cifar10.
data_preprocessor = dict(
    num_classes=10,
    mean=[125.3, 123.0, 113.9],
    std=[63.0, 62.1, 66.7],
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
        type='CIFAR10',
        data_root='data/cifar10',
        split='train',
        pipeline=train_pipeline,
    ),
)
val_dataloader = dict(
    batch_size=128,
    num_workers=4,
    sampler=dict(type='DefaultSampler', shuffle=False),
    dataset=dict(
        type='CIFAR10',
        data_root='data/cifar10',
        split='test',
        test_mode=True,
        pipeline=test_pipeline,
    ),
)
val_evaluator = dict(type='Accuracy', topk=(1,))

test_dataloader = val_dataloader
test_evaluator = val_evaluator
