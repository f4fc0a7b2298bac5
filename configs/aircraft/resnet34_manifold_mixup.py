_base_ = ['resnet34_baseline.py', '../_base_/augments/manifold_mixup.py']

model = dict(train_cfg=dict(augments=_base_.augments))
