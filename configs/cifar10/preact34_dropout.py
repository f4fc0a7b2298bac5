_base_ = ['preact34_baseline.py']

model = dict(head=dict(type='DropoutLinearClsHead', dropout=0.2))
