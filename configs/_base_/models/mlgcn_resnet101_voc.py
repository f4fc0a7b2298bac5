# ML-GCN (CVPR 2019): ResNet-101, global max pooling, classifiers from the label graph.
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
        type='MLGCNHead',
        num_classes=20,
        in_channels=2048,
        # Built from the training set if missing, see LabelGraphHook and tools/label_graph.py.
        label_graph='work_dirs/label_graphs/voc07_trainval.npz',
        threshold=0.4,
        # MMPretrain sums the loss over the classes; the schedule is for their mean, as in ML-GCN.
        loss=dict(type='CrossEntropyLoss', use_sigmoid=True, loss_weight=1 / 20),
    ),
)
