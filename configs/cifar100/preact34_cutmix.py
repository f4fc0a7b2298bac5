_base_ = ['preact34_baseline.py', '../_base_/augments/cutmix.py']

model = dict(train_cfg=dict(augments=_base_.augments))
