# EfficientNet-lite0 of timm with global max pooling and one linear classifier a class.
model = dict(
    type='ImageClassifier',
    backbone=dict(
        type='TIMMBackbone',
        model_name='tf_efficientnet_lite0',
        # ImageNet weights: tools/lite0_weights.py writes this file.
        init_cfg=dict(
            type='Pretrained', checkpoint='work_dirs/weights/lite0.pth', prefix='backbone'
        ),
    ),
    neck=dict(type='GlobalMaxPooling'),
    head=dict(
        type='MultiLabelLinearClsHead',
        num_classes=20,
        in_channels=1280,
        # MMPretrain sums the loss over the classes; the schedule is for their mean, as in ML-GCN.
        loss=dict(type='CrossEntropyLoss', use_sigmoid=True, loss_weight=1 / 20),
    ),
)
