_base_ = ['wide18_2_baseline.py', '../_base_/augments/shufflemix_nfm.py']

model = dict(train_cfg=dict(augments=_base_.augments))
