# Wide-PreActResNet18-2: twice the width after the stem. PyTorch's own initialisation throughout.
model = dict(
    type='ImageClassifier',
    backbone=dict(type='PreActResNet', depth=18, widen_factor=2),
    neck=dict(type='GlobalAveragePooling'),
    head=dict(
        type='LinearClsHead',
        num_classes=10,
        in_channels=1024,
        loss=dict(type='CrossEntropyLoss'),
        # MMPretrain would draw these weights from N(0, 0.01).
        init_cfg=None,
    ),
)
