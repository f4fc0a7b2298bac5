_base_ = [
    '../_base_/models/mlgcn_resnet101_voc.py',
    '../_base_/datasets/voc07_448.py',
    '../_base_/schedules/voc_100e.py',
    '../_base_/default_runtime.py',
]
default_hooks = dict(checkpoint=dict(save_best='multi-label/mAP', rule='greater'))
custom_hooks = [*_base_.custom_hooks, dict(type='LabelGraphHook')]
