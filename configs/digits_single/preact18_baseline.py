_base_ = ['../_base_/datasets/digits_single.py', '../_base_/default_runtime.py']

model = dict(
    type='ImageClassifier',
    backbone=dict(type='PreActResNet', depth=18),
    neck=dict(type='GlobalAveragePooling'),
    head=dict(
        type='LinearClsHead',
        num_classes=10,
        in_channels=512,
        loss=dict(type='CrossEntropyLoss'),
    ),
)

optim_wrapper = dict(
    optimizer=dict(type='SGD', lr=0.05, momentum=0.9, weight_decay=5e-4),
)
param_scheduler = dict(type='CosineAnnealingLR', by_epoch=True, convert_to_iter_based=True)
train_cfg = dict(by_epoch=True, max_epochs=10, val_interval=1)
val_cfg = dict()
test_cfg = dict()
