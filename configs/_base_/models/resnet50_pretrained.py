# ResNet-50 from ImageNet; the remarks in resnet34_pretrained.py hold.
_base_ = ['resnet34_pretrained.py']

model = dict(
    backbone=dict(depth=50, init_cfg=dict(checkpoint='torchvision://resnet50')),
    head=dict(in_channels=2048),
)
