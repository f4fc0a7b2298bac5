_base_ = [
    '../_base_/models/wide18_2.py',
    '../_base_/datasets/cifar10.py',
    '../_base_/schedules/cifar_200e.py',
    '../_base_/default_runtime.py',
]

model = dict(head=dict(num_classes=10))
