# The built-in multi-label set (tools/make_digits.py): 64 x 64 canvases of handwritten digits.
data_preprocessor = dict(
    num_classes=10,
    mean=[128.0, 128.0, 128.0],
    std=[64.0, 64.0, 64.0],
    to_rgb=True,
    to_onehot=True,
)
metainfo = dict(
    classes=('zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine')
)

train_pipeline = [
    dict(type='LoadImageFromFile'),
    dict(type='RandomCrop', crop_size=64, padding=4, padding_mode='reflect'),
    dict(type='PackInputs'),
]
test_pipeline = [
    dict(type='LoadImageFromFile'),
    dict(
        type='PackInputs',
        # The metric needs to know the classes that occur only as difficult.
        meta_keys=('sample_idx', 'img_path', 'ori_shape', 'img_shape', 'gt_label_difficult'),
    ),
]

train_dataloader = dict(
    batch_size=16,
    num_workers=2,
    drop_last=True,
    sampler=dict(type='DefaultSampler', shuffle=True),
    dataset=dict(
        type='VOCMultiLabel',
        data_root='data/digits_voc',
        split='trainval',
        metainfo=metainfo,
        pipeline=train_pipeline,
    ),
)
val_dataloader = dict(
    batch_size=100,
    num_workers=1,
    sampler=dict(type='DefaultSampler', shuffle=False),
    dataset=dict(
        type='VOCMultiLabel',
        data_root='data/digits_voc',
        split='test',
        test_mode=True,
        metainfo=metainfo,
        pipeline=test_pipeline,
    ),
)
val_evaluator = dict(type='MultiLabelReport')

test_dataloader = val_dataloader
test_evaluator = val_evaluator
