_base_ = ['mlgcn_resnet18_baseline_224.py']

# The label threshold chosen for this model; the paper studies 0.1 to 0.5.
model = dict(train_cfg=dict(augments=dict(type='ShuffleMix', label_threshold=0.3)))
