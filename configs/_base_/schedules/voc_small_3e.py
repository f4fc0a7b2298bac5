# A few epochs of AdamW with a cosine to zero, for pretrained networks on a CPU.
optim_wrapper = dict(
    optimizer=dict(type='AdamW', lr=0.001, weight_decay=1e-4),
    clip_grad=dict(max_norm=10.0),
)
param_scheduler = [
    # A fifth of an epoch of 313 batches.
    dict(type='LinearLR', start_factor=0.05, end=62, by_epoch=False),
    dict(type='CosineAnnealingLR', by_epoch=True, convert_to_iter_based=True),
]

train_cfg = dict(by_epoch=True, max_epochs=3, val_interval=3)
val_cfg = dict()
test_cfg = dict()
