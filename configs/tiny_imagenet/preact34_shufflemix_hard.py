_base_ = ['preact34_baseline.py', '../_base_/augments/shufflemix_hard.py']

model = dict(train_cfg=dict(augments=_base_.augments))
