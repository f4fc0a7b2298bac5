# The same network under classifiers from the label graph, which is built from the training labels.
_base_ = [
    '../_base_/models/mlgcn_lite0_voc.py',
    '../_base_/datasets/mine_json.py',
    '../_base_/schedules/mine_20e.py',
    '../_base_/default_runtime.py',
]

# The number of classes is set in ../_base_/datasets/mine_json.py.
model = dict(
    head=dict(
        num_classes=_base_.num_classes,
        # Of another set of pictures or classes: delete the file, or give it another name.
        label_graph='work_dirs/label_graphs/mine.npz',
        loss=dict(loss_weight=1 / _base_.num_classes),
    ),
    train_cfg=dict(augments=dict(type='ShuffleMix', label_threshold=0.3)),
)
default_hooks = dict(checkpoint=dict(save_best='multi-label/mAP', rule='greater'))
custom_hooks = [
    *_base_.custom_hooks,
    dict(type='LabelGraphHook'),
    dict(type='ChannelsLastHook'),
]
