_base_ = ['lite0_baseline.py']

model = dict(train_cfg=dict(augments=dict(type='ShuffleMix', label_threshold=0.2)))
