_base_ = ['preact18_baseline.py']

model = dict(head=dict(type='DropoutLinearClsHead', dropout=0.2))
