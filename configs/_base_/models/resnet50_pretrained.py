# ResNet-50 from ImageNet, for the fine-grained sets.
model = dict(
    type='ImageClassifier',
    backbone=dict(
        type='ResNet',
        depth=50,
        # ImageNet weights, downloaded once. Offline: set checkpoint to a file of torchvision's
        # resnet50. To start from nothing, or from a whole model by load_from:
        # model.backbone.init_cfg=None.
        init_cfg=dict(type='Pretrained', checkpoint='torchvision://resnet50'),
    ),
    neck=dict(type='GlobalAveragePooling'),
    head=dict(
        type='LinearClsHead',
        num_classes=200,
        in_channels=2048,
        loss=dict(type='CrossEntropyLoss'),
        # PyTorch's own initialisation.
        init_cfg=None,
    ),
)
