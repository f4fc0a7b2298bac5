_base_ = [
    '../_base_/models/resnet101_gmp_voc.py',
    '../_base_/datasets/coco14_448.py',
    '../_base_/schedules/voc_100e.py',
    '../_base_/default_runtime.py',
]

model = dict(head=dict(num_classes=80, loss=dict(loss_weight=1 / 80)))
default_hooks = dict(checkpoint=dict(save_best='multi-label/mAP', rule='greater'))
