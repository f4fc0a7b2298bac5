# COCO 2014 with the pictures prepared as those of VOC2007. The 80 classes are in the order of their
# category ids; metainfo=dict(classes=(...)) in every dataset chooses another order.
_base_ = ['voc07_448.py']

data_preprocessor = dict(num_classes=80)

train_dataloader = dict(
    dataset=dict(
        _delete_=True,
        type='COCOMultiLabel',
        data_root='data/coco',
        ann_file='annotations/instances_train2014.json',
        data_prefix='train2014',
        pipeline=_base_.train_pipeline,
    ),
)
val_dataloader = dict(
    dataset=dict(
        _delete_=True,
        type='COCOMultiLabel',
        data_root='data/coco',
        ann_file='annotations/instances_val2014.json',
        data_prefix='val2014',
        test_mode=True,
        pipeline=_base_.test_pipeline,
    ),
)
test_dataloader = val_dataloader
