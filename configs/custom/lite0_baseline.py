# EfficientNet-lite0 from ImageNet weights, which tools/lite0_weights.py writes.
_base_ = [
    '../_base_/models/lite0_gmp_voc.py',
    '../_base_/datasets/mine_json.py',
    '../_base_/schedules/mine_20e.py',
    '../_base_/default_runtime.py',
]

# The number of classes is set in ../_base_/datasets/mine_json.py.
model = dict(
    head=dict(num_classes=_base_.num_classes, loss=dict(loss_weight=1 / _base_.num_classes)),
)
default_hooks = dict(checkpoint=dict(save_best='multi-label/mAP', rule='greater'))
custom_hooks = [*_base_.custom_hooks, dict(type='ChannelsLastHook')]
