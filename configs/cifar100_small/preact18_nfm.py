_base_ = ['preact18_baseline.py', '../_base_/augments/nfm.py']
model = dict(train_cfg=dict(augments=_base_.augments))
