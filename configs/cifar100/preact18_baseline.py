_base_ = [
    '../_base_/models/preact18.py',
    '../_base_/datasets/cifar100.py',
    '../_base_/schedules/cifar_200e.py',
    '../_base_/default_runtime.py',
]

model = dict(head=dict(num_classes=100))
