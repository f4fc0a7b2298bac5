_base_ = [
    '../_base_/models/resnet18_digits.py',
    '../_base_/datasets/digits_voc.py',
    '../_base_/schedules/digits_80e.py',
    '../_base_/default_runtime.py',
]
default_hooks = dict(checkpoint=dict(interval=20))
