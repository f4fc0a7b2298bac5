# The same network under classifiers that come from the label graph.
_base_ = ['lite0_gmp_voc.py']

model = dict(
    head=dict(
        _delete_=True,
        type='MLGCNHead',
        num_classes=20,
        in_channels=1280,
        # Built from the training set if missing, see LabelGraphHook and tools/label_graph.py.
        label_graph='work_dirs/label_graphs/voc07_trainval.npz',
        threshold=0.4,
        loss=dict(type='CrossEntropyLoss', use_sigmoid=True, loss_weight=1 / 20),
    ),
)
