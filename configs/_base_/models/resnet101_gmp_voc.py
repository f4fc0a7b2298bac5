# ResNet-101 with global max pooling and one linear classifier a class.
model = dict(
    type='ImageClassifier',
    backbone=dict(
        type='ResNet',
        depth=101,
        # ImageNet weights, downloaded once. Offline: set checkpoint to a file of torchvision's
        # resnet101. To start from nothing, or from a whole model by load_from:
        # model.backbone.init_cfg=None.
        init_cfg=dict(type='Pretrained', checkpoint='torchvision://resnet101'),
    ),
    neck=dict(type='GlobalMaxPooling'),
    head=dict(
        type='MultiLabelLinearClsHead',
        num_classes=20,
        in_channels=2048,
        # MMPretrain sums the loss over the classes; the schedule is for their mean, as in ML-GCN.
        loss=dict(type='CrossEntropyLoss', use_sigmoid=True, loss_weight=1 / 20),
    ),
)
