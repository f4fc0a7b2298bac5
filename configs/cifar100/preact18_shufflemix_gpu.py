# The recipe of preact18_shufflemix.py on one GPU: images in memory, bfloat16, channels last. The
# data are tiles (CIFARTiles); with the archive instead, set the type of the data sets to CIFAR100.
_base_ = ['preact18_shufflemix.py', '../_base_/fast_small_images.py']

data_root = 'data/cifar100_tiles'
train_dataloader = dict(dataset=dict(type='CIFARTiles', data_root=data_root))
val_dataloader = dict(batch_size=1000, dataset=dict(type='CIFARTiles', data_root=data_root))
test_dataloader = val_dataloader

# bfloat16 has the range of float32, so that losses need no scaling.
optim_wrapper = dict(type='AmpOptimWrapper', dtype='bfloat16', loss_scale=dict(enabled=False))
custom_hooks = [*_base_.custom_hooks, dict(type='ChannelsLastHook')]

# Validation and checkpoints would take as long as the training; the last epoch has both anyway.
train_cfg = dict(val_interval=10)
default_hooks = dict(checkpoint=dict(interval=50))
env_cfg = dict(cudnn_benchmark=True)
