# ML-GCN's released code: SGD, 100 epochs, batch 16, x0.1 every 40 (its paper: lr 0.01, batch 32).
optim_wrapper = dict(
    optimizer=dict(type='SGD', lr=0.1, momentum=0.9, weight_decay=1e-4),
    # The pretrained backbone learns ten times slower than the new layers.
    paramwise_cfg=dict(custom_keys={'backbone': dict(lr_mult=0.1)}),
    # The first gradients are large at this rate: without the clip ML-GCN stays near 10 mAP.
    clip_grad=dict(max_norm=10.0),
)
param_scheduler = dict(type='MultiStepLR', by_epoch=True, milestones=[40, 80], gamma=0.1)

train_cfg = dict(by_epoch=True, max_epochs=100, val_interval=1)
val_cfg = dict()
test_cfg = dict()

auto_scale_lr = dict(base_batch_size=16)
