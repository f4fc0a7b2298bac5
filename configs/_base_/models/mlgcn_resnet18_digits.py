# The same network under classifiers that come from the label graph.
_base_ = ['resnet18_digits.py']

model = dict(
    head=dict(
        _delete_=True,
        type='MLGCNHead',
        num_classes=10,
        in_channels=128,
        # Built from the training set if missing, see LabelGraphHook and tools/label_graph.py.
        label_graph='work_dirs/label_graphs/digits_voc_trainval.npz',
        hidden_channels=64,
        # Enough for vectors from co-occurrence, which have one direction a class.
        embed_dim=10,
        loss=dict(type='CrossEntropyLoss', use_sigmoid=True),
    ),
)
