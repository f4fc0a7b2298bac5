# CIFAR and Tiny ImageNet: 200 epochs of SGD at batch 128, x0.1 at 100, 150 and 180. The accuracy of
# the last epoch counts.
optim_wrapper = dict(optimizer=dict(type='SGD', lr=0.1, momentum=0.9, weight_decay=5e-4))
param_scheduler = dict(type='MultiStepLR', by_epoch=True, milestones=[100, 150, 180], gamma=0.1)

train_cfg = dict(by_epoch=True, max_epochs=200, val_interval=1)
val_cfg = dict()
test_cfg = dict()

auto_scale_lr = dict(base_batch_size=128)
