# ML-GCN (CVPR 2019): ResNet-101, global max pooling, classifiers from the label graph.
_base_ = ['resnet101_gmp_voc.py']

model = dict(
    head=dict(
        _delete_=True,
        type='MLGCNHead',
        num_classes=20,
        in_channels=2048,
        # Built from the training set if missing, see LabelGraphHook and tools/label_graph.py.
        label_graph='work_dirs/label_graphs/voc07_trainval.npz',
        threshold=0.4,
        loss=dict(type='CrossEntropyLoss', use_sigmoid=True, loss_weight=1 / 20),
    ),
)
