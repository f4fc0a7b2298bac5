_base_ = [
    '../_base_/models/mlgcn_resnet101_voc.py',
    '../_base_/datasets/coco14_448.py',
    '../_base_/schedules/voc_100e.py',
    '../_base_/default_runtime.py',
]

model = dict(
    head=dict(
        num_classes=80,
        label_graph='work_dirs/label_graphs/coco14_train.npz',
        loss=dict(loss_weight=1 / 80),
    )
)
default_hooks = dict(checkpoint=dict(save_best='multi-label/mAP', rule='greater'))
custom_hooks = [*_base_.custom_hooks, dict(type='LabelGraphHook')]
