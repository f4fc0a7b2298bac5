_base_ = ['lite0_baseline.py']

model = dict(train_cfg=dict(augments=dict(type='ManifoldMixup')))
