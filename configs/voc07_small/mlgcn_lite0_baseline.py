_base_ = [
    '../_base_/models/mlgcn_lite0_voc.py',
    '../_base_/datasets/voc07_small_96.py',
    '../_base_/schedules/voc_small_3e.py',
    '../_base_/default_runtime.py',
]

custom_hooks = [
    *_base_.custom_hooks,
    dict(type='LabelGraphHook'),
    dict(type='ChannelsLastHook'),
]
