_base_ = [
    '../_base_/models/resnet50_pretrained.py',
    '../_base_/datasets/cars.py',
    '../_base_/schedules/finegrained_200e.py',
    '../_base_/default_runtime.py',
]

model = dict(head=dict(num_classes=196))
