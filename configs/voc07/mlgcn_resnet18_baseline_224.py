_base_ = [
    '../_base_/models/mlgcn_resnet101_voc.py',
    '../_base_/datasets/voc07_224.py',
    '../_base_/schedules/voc_100e.py',
    '../_base_/default_runtime.py',
]

# Small enough for one GPU, or patience and none.
model = dict(
    backbone=dict(depth=18, init_cfg=dict(checkpoint='torchvision://resnet18')),
    head=dict(in_channels=512),
)
default_hooks = dict(checkpoint=dict(save_best='multi-label/mAP', rule='greater'))
custom_hooks = [*_base_.custom_hooks, dict(type='LabelGraphHook')]
