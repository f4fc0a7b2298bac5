_base_ = ['wide18_2_baseline.py']

model = dict(head=dict(type='DropoutLinearClsHead', dropout=0.2))
