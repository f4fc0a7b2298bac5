# 100 training images of each of the first 20 classes of CIFAR-100, and their 100 test images.
data_preprocessor = dict(
    num_classes=20,
    mean=[129.3, 124.1, 112.4],
    std=[68.2, 65.4, 70.4],
    to_rgb=False,
)

train_pipeline = [
    dict(type='RandomCrop', crop_size=32, padding=4),
    dict(type='RandomFlip', prob=0.5, direction='horizontal'),
    dict(type='PackInputs'),
]
test_pipeline = [dict(type='PackInputs')]

# Lossless tiles, one picture a class and split; tools/unpack_cifar100.py makes an image folder.
data_root = 'data/cifar100_tiles'
train_dataloader = dict(
    batch_size=64,
    num_workers=0,
    drop_last=True,
    sampler=dict(type='DefaultSampler', shuffle=True),
    dataset=dict(
        type='ClassSubset',
        classes=20,
        per_class=100,
        dataset=dict(
            type='CIFARTiles', data_root=data_root, split='train', pipeline=train_pipeline
        ),
    ),
)
val_dataloader = dict(
    batch_size=200,
    num_workers=0,
    sampler=dict(type='DefaultSampler', shuffle=False),
    dataset=dict(
        type='ClassSubset',
        classes=20,
        dataset=dict(
            type='CIFARTiles',
            data_root=data_root,
            split='test',
            test_mode=True,
            pipeline=test_pipeline,
        ),
    ),
)
val_evaluator = dict(type='Accuracy', topk=(1,))

test_dataloader = val_dataloader
test_evaluator = val_evaluator
