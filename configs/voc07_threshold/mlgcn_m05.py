_base_ = ['../voc07/mlgcn_shufflemix.py']

model = dict(train_cfg=dict(augments=dict(label_threshold=0.5)))
