# AdamW with a short warm-up, then a cosine to zero: pretrained networks on few pictures.
optim_wrapper = dict(
    optimizer=dict(type='AdamW', lr=0.001, weight_decay=1e-4),
    clip_grad=dict(max_norm=10.0),
)
param_scheduler = [
    dict(type='LinearLR', start_factor=0.05, end=2, by_epoch=True, convert_to_iter_based=True),
    dict(type='CosineAnnealingLR', by_epoch=True, convert_to_iter_based=True),
]

train_cfg = dict(by_epoch=True, max_epochs=20, val_interval=5)
val_cfg = dict()
test_cfg = dict()
