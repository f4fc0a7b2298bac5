_base_ = [
    '../_base_/models/preact18.py',
    '../_base_/datasets/cifar100_small.py',
    '../_base_/schedules/cifar_small_40e.py',
    '../_base_/default_runtime.py',
]

# An eighth of the width: 40 epochs take minutes on one core.
model = dict(backbone=dict(base_channels=8), head=dict(num_classes=20, in_channels=64))
custom_hooks = [*_base_.custom_hooks, dict(type='ChannelsLastHook')]
