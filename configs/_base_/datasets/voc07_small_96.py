# VOC2007 from photographs with a short side of 160 px, at 96 px: a study that CPUs can run.
_base_ = ['voc07_448.py']

data_preprocessor = dict(mean=[127.0, 127.0, 127.0], std=[128.0, 128.0, 128.0])

train_pipeline = [
    dict(type='LoadImageFromFile'),
    dict(type='MultiScaleCrop', size=96),
    dict(type='RandomFlip', prob=0.5, direction='horizontal'),
    dict(type='PackInputs'),
]

test_pipeline = [
    dict(type='LoadImageFromFile'),
    dict(type='Resize', scale=(96, 96)),
    dict(
        type='PackInputs',
        meta_keys=('sample_idx', 'img_path', 'ori_shape', 'img_shape', 'gt_label_difficult'),
    ),
]

# The copy of the photographs this was made for lacks three of trainval.
small = dict(data_root='data/voc07_small/VOCdevkit/VOC2007', missing_images='skip')
train_dataloader = dict(dataset=dict(pipeline=train_pipeline, **small), num_workers=1)
val_dataloader = dict(dataset=dict(pipeline=test_pipeline, **small), batch_size=64, num_workers=1)
test_dataloader = dict(dataset=dict(pipeline=test_pipeline, **small), batch_size=64, num_workers=1)
