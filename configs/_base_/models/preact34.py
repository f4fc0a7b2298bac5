_base_ = ['preact18.py']

model = dict(backbone=dict(depth=34))
