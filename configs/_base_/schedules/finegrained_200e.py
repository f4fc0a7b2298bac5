# Fine-grained sets, as in SnapMix: 200 epochs of SGD at batch 16, x0.1 at 80, 150 and 180.
optim_wrapper = dict(
    optimizer=dict(type='SGD', lr=0.01, momentum=0.9, weight_decay=1e-4, nesterov=True),
    # The pretrained backbone learns at 0.001.
    paramwise_cfg=dict(custom_keys={'backbone': dict(lr_mult=0.1)}),
)
param_scheduler = dict(type='MultiStepLR', by_epoch=True, milestones=[80, 150, 180], gamma=0.1)

train_cfg = dict(by_epoch=True, max_epochs=200, val_interval=1)
val_cfg = dict()
test_cfg = dict()

auto_scale_lr = dict(base_batch_size=16)
