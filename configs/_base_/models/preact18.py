# PreActResNet18. PyTorch's own initialisation throughout.
model = dict(
    type='ImageClassifier',
    backbone=dict(type='PreActResNet', depth=18),
    neck=dict(type='GlobalAveragePooling'),
    head=dict(
        type='LinearClsHead',
        num_classes=10,
        in_channels=512,
        loss=dict(type='CrossEntropyLoss'),
        # MMPretrain would draw these weights from N(0, 0.01).
        init_cfg=None,
    ),
)
