# Your own pictures with labels in the JSON form (tools/convert_labels.py, tools/split_dataset.py).
# Number of your classes; the only setting that has to fit your data.
num_classes = 3
# Here lie train.json, val.json, test.json, and the pictures in the folder images.
data_root = 'data/mine'

data_preprocessor = dict(
    num_classes=num_classes,
    # Of EfficientNet-lite0.
    mean=[127.0, 127.0, 127.0],
    std=[128.0, 128.0, 128.0],
    to_rgb=True,
    to_onehot=True,
)

train_pipeline = [
    dict(type='LoadImageFromFile'),
    dict(type='MultiScaleCrop', size=128),
    dict(type='RandomFlip', prob=0.5, direction='horizontal'),
    dict(type='PackInputs'),
]

test_pipeline = [
    dict(type='LoadImageFromFile'),
    dict(type='Resize', scale=(128, 128)),
    dict(
        type='PackInputs',
        # The metric needs to know the classes that occur only as difficult.
        meta_keys=('sample_idx', 'img_path', 'ori_shape', 'img_shape', 'gt_label_difficult'),
    ),
]

mine = dict(type='MultiLabelJSON', data_root=data_root, data_prefix=dict(img_path='images'))

train_dataloader = dict(
    # At most the number of training images.
    batch_size=8,
    num_workers=1,
    persistent_workers=False,
    drop_last=True,
    sampler=dict(type='DefaultSampler', shuffle=True),
    dataset=dict(**mine, ann_file='train.json', pipeline=train_pipeline),
)

val_dataloader = dict(
    batch_size=32,
    num_workers=1,
    persistent_workers=False,
    sampler=dict(type='DefaultSampler', shuffle=False),
    dataset=dict(**mine, ann_file='val.json', test_mode=True, pipeline=test_pipeline),
)
val_evaluator = dict(type='MultiLabelReport')

test_dataloader = dict(
    batch_size=32,
    num_workers=1,
    persistent_workers=False,
    sampler=dict(type='DefaultSampler', shuffle=False),
    dataset=dict(**mine, ann_file='test.json', test_mode=True, pipeline=test_pipeline),
)
test_evaluator = val_evaluator
