_base_ = ['preact18_baseline.py']

model = dict(train_cfg=dict(augments=dict(type='ShuffleMix')))
