# COCO 2014 at 448 px: ML-GCN's crop in training, plain resize in testing. The 80 classes are in the
# order of their category ids; metainfo=dict(classes=(...)) in every dataset chooses another order.
data_preprocessor = dict(
    num_classes=80,
    mean=[123.675, 116.28, 103.53],
    std=[58.395, 57.12, 57.375],
    to_rgb=True,
    to_onehot=True,
)

train_pipeline = [
    dict(type='LoadImageFromFile'),
    dict(type='MultiScaleCrop', size=448),
    dict(type='RandomFlip', prob=0.5, direction='horizontal'),
    dict(type='PackInputs'),
]

test_pipeline = [
    dict(type='LoadImageFromFile'),
    dict(type='Resize', scale=(448, 448)),
    dict(
        type='PackInputs',
        meta_keys=('sample_idx', 'img_path', 'ori_shape', 'img_shape', 'gt_label_difficult'),
    ),
]

train_dataloader = dict(
    batch_size=16,
    num_workers=4,
    persistent_workers=False,
    drop_last=True,
    sampler=dict(type='DefaultSampler', shuffle=True),
    dataset=dict(
        type='COCOMultiLabel',
        data_root='data/coco',
        ann_file='annotations/instances_train2014.json',
        data_prefix='train2014',
        pipeline=train_pipeline,
    ),
)

val_dataloader = dict(
    batch_size=16,
    num_workers=4,
    persistent_workers=False,
    sampler=dict(type='DefaultSampler', shuffle=False),
    dataset=dict(
        type='COCOMultiLabel',
        data_root='data/coco',
        ann_file='annotations/instances_val2014.json',
        data_prefix='val2014',
        test_mode=True,
        pipeline=test_pipeline,
    ),
)
val_evaluator = dict(type='MultiLabelReport')

test_dataloader = val_dataloader
test_evaluator = val_evaluator
