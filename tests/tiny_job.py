"""A job that takes seconds: 12 generated pictures of 3 classes and a small network."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mmengine.config import Config
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]

TEMPLATE = """
_base_ = ['{runtime}']
pipeline = [
    dict(type='LoadImageFromFile'),
    dict(type='RandomFlip', prob=0.5),
    dict(type='RandomCrop', crop_size=16, padding=2),
    dict(type='PackInputs'),
]
test_pipeline = [dict(type='LoadImageFromFile'), dict(type='PackInputs')]
data_preprocessor = dict(num_classes=3, mean=[120, 120, 120], std=[60, 60, 60], to_rgb=True)
model = dict(
    type='ImageClassifier',
    backbone=dict(type='ResNet_CIFAR', depth=18, base_channels=4, stem_channels=4),
    neck=dict(type='GlobalAveragePooling'),
    head=dict(type='LinearClsHead', num_classes=3, in_channels=32, topk=(1,)),
    train_cfg=dict(augments=dict(type='{augment}')),
)
train_dataloader = dict(
    batch_size=4,
    num_workers=0,
    persistent_workers=False,
    drop_last=True,
    dataset=dict(type='CustomDataset', data_root='{data}', pipeline=pipeline),
    sampler=dict(type='DefaultSampler', shuffle=True),
    collate_fn=dict(type='default_collate'),
)
val_dataloader = dict(
    batch_size=4,
    num_workers=0,
    dataset=dict(type='CustomDataset', data_root='{data}', pipeline=test_pipeline),
    sampler=dict(type='DefaultSampler', shuffle=False),
    collate_fn=dict(type='default_collate'),
)
test_dataloader = val_dataloader
val_evaluator = dict(type='Accuracy', topk=(1,))
test_evaluator = val_evaluator
optim_wrapper = dict(optimizer=dict(type='SGD', lr=0.05, momentum=0.9))
param_scheduler = dict(type='MultiStepLR', milestones=[1, 3], gamma=0.5)
train_cfg = dict(by_epoch=True, max_epochs=2, val_interval=1)
val_cfg = dict()
test_cfg = dict()
default_hooks = dict(logger=dict(interval=1), checkpoint=dict(max_keep_ckpts=-1))
env_cfg = dict(mp_cfg=dict(mp_start_method='fork'))
"""


def write_pictures(folder: Path) -> Path:
    """Write 4 random pictures for each of 3 classes, one folder a class."""
    rng = np.random.default_rng(0)
    for index in range(12):
        path = folder / 'abc'[index % 3] / f'{index}.png'
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (16, 16, 3), dtype=np.uint8)).save(path)
    return folder


def write_job(folder: Path, augment: str = 'mmshufflemix.ShuffleMix') -> Path:
    """Write pictures and a config file for them, and return the config file."""
    data = write_pictures(folder / 'pictures')
    runtime = ROOT / 'configs' / '_base_' / 'default_runtime.py'
    config = folder / 'tiny.py'
    config.write_text(TEMPLATE.format(runtime=runtime, augment=augment, data=data))
    return config


def write_plain_job(folder: Path) -> Path:
    """Like :func:`write_job`, with MMEngine's hooks only and a new seed every time."""
    config = write_job(folder)
    runtime = folder / 'runtime.py'
    runtime.write_text(
        "custom_imports = dict(imports=['mmshufflemix'], allow_failed_imports=False)\n"
        "default_scope = 'mmpretrain'\n"
        "default_hooks = dict(logger=dict(type='LoggerHook'), "
        "checkpoint=dict(type='CheckpointHook', interval=1))\n"
    )
    text = config.read_text()
    shipped = str(ROOT / 'configs' / '_base_' / 'default_runtime.py')
    config.write_text(text.replace(shipped, str(runtime)))
    return config


def write_multi_label_job(folder: Path, label_of: Callable[[int], list[int]]) -> Path:
    """Like :func:`write_job`, for testing with several labels: ``label_of`` the number of each."""
    config = write_job(folder)
    items = [
        {'img_path': str(path), 'gt_label': label_of(index)}
        for index, path in enumerate(sorted((folder / 'pictures').glob('*/*.png')))
    ]
    ann_file = folder / 'ann.json'
    ann_file.write_text(json.dumps({'metainfo': {'classes': list('abc')}, 'data_list': items}))
    several = folder / 'several.py'
    several.write_text(
        f"_base_ = ['{config}']\n"
        "model = dict(head=dict(_delete_=True, type='MultiLabelLinearClsHead', num_classes=3, "
        'in_channels=32, topk=1))\n'
        f"dataset = dict(_delete_=True, type='MultiLabelDataset', ann_file='{ann_file}', "
        'pipeline=_base_.test_pipeline)\n'
        'test_dataloader = dict(dataset=dataset)\n'
        "test_evaluator = dict(_delete_=True, type='MultiLabelReport')\n"
        'train_dataloader = val_dataloader = train_cfg = val_cfg = val_evaluator = None\n'
        'optim_wrapper = param_scheduler = None\n'
    )
    return several


def load_job(config: Path, work_dir: Path, **options: Any) -> Config:
    """Read the config with options such as ``train_cfg__max_epochs=4``."""
    cfg = Config.fromfile(config)
    cfg.work_dir = str(work_dir)
    cfg.merge_from_dict({key.replace('__', '.'): value for key, value in options.items()})
    return cfg
