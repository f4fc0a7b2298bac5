_base_ = ['../voc07/resnet101_shufflemix.py']

model = dict(train_cfg=dict(augments=dict(label_threshold=0.4)))
