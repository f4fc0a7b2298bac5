# The schedule of cifar_200e.py in a fifth of the epochs, at half the batch and half the rate.
optim_wrapper = dict(
    optimizer=dict(type='SGD', lr=0.05, momentum=0.9, weight_decay=5e-4),
)
param_scheduler = dict(type='MultiStepLR', by_epoch=True, milestones=[20, 30, 36], gamma=0.1)

train_cfg = dict(by_epoch=True, max_epochs=40, val_interval=10)
val_cfg = dict()
test_cfg = dict()
