# A ResNet-18 of a quarter of the width that trains from nothing in a minute on two cores.
model = dict(
    type='ImageClassifier',
    backbone=dict(
        type='ResNet',
        depth=18,
        stem_channels=16,
        base_channels=16,
        strides=(1, 1, 2, 2),
        # With this and the head's init MMPretrain's defaults, the first ten epochs learn nothing.
        zero_init_residual=False,
    ),
    # Max pooling, the choice for pretrained networks, learns more slowly from nothing.
    neck=dict(type='GlobalAveragePooling'),
    head=dict(
        type='MultiLabelLinearClsHead',
        num_classes=10,
        in_channels=128,
        loss=dict(type='CrossEntropyLoss', use_sigmoid=True),
        init_cfg=dict(type='Normal', layer='Linear', std=0.05),
    ),
)
