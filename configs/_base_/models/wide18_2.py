# Wide-PreActResNet18-2: twice the width after the stem.
_base_ = ['preact18.py']

model = dict(backbone=dict(widen_factor=2), head=dict(in_channels=1024))
