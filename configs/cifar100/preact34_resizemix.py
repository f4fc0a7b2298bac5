_base_ = ['preact34_baseline.py', '../_base_/augments/resizemix.py']

model = dict(train_cfg=dict(augments=_base_.augments))
