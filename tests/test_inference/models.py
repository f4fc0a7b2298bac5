"""Untrained models of three classes, with their configs and checkpoints."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import numpy as np
import torch
from mmengine.config import Config
from mmengine.logging import MMLogger
from mmpretrain.registry import MODELS
from mmpretrain.utils import register_all_modules
from PIL import Image

from mmshufflemix.label_graph.file import make_label_graph

CLASSES = ('cat', 'dog', 'owl')
PIPELINE = [
    dict(type='LoadImageFromFile'),
    dict(type='Resize', scale=(32, 24), interpolation='bicubic'),
    dict(type='PackInputs'),
]


def head_config(kind: str) -> dict[str, Any]:
    """A head for the features of :func:`write_model`."""
    if kind != 'MLGCNHead':
        return dict(type=kind, num_classes=3, in_channels=32)
    graph = make_label_graph(
        dict(
            classes=np.array(CLASSES),
            counts=np.array([4, 3, 2]),
            cooccurrence=np.array([[0, 2, 1], [2, 0, 0], [1, 0, 0]]),
            embeddings=np.eye(3, 5, dtype=np.float32),
        )
    )
    arrays = {name: getattr(graph, name) for name in ('counts', 'cooccurrence', 'embeddings')}
    arrays['classes'] = np.array(graph.classes)
    return dict(
        type=kind,
        num_classes=3,
        in_channels=32,
        label_graph={key: value.tolist() for key, value in arrays.items()},
        hidden_channels=8,
        embed_dim=5,
    )


def write_model(
    folder: Path,
    kind: str = 'MultiLabelLinearClsHead',
    classes: Any = CLASSES,
    pipeline: Any = PIPELINE,
    **dataset: Any,
) -> tuple[str, str]:
    """Write a config and a checkpoint with random weights; return their paths."""
    register_all_modules()
    folder.mkdir(parents=True, exist_ok=True)
    cfg = Config(
        dict(
            model=dict(
                type='ImageClassifier',
                backbone=dict(type='ResNet', depth=18, base_channels=4, stem_channels=4),
                neck=dict(type='GlobalAveragePooling'),
                head=head_config(kind),
            ),
            data_preprocessor=dict(mean=[120, 110, 100], std=[60, 55, 50], to_rgb=True),
            test_dataloader=dict(
                dataset=dict(
                    type='MultiLabelDataset', ann_file='none.json', pipeline=pipeline, **dataset
                )
            ),
        )
    )
    torch.manual_seed(0)
    # A log file of an earlier test may be closed.
    MMLogger.get_instance(uuid.uuid4().hex)
    model = MODELS.build(cfg.model)
    model.init_weights()
    for parameter in model.head.parameters():
        torch.nn.init.normal_(parameter)
    meta = {'dataset_meta': {'classes': list(classes)}} if classes else {}
    torch.save({'state_dict': model.state_dict(), 'meta': meta}, folder / 'model.pth')
    cfg.dump(folder / 'config.py')
    return str(folder / 'config.py'), str(folder / 'model.pth')


def write_pictures(folder: Path, count: int = 4, size: tuple[int, int] = (40, 30)) -> list[str]:
    """Write PNG files of random colours, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(3)
    paths = []
    for index in range(count):
        base = rng.integers(0, 256, 3)
        noise = rng.integers(-60, 60, (size[1], size[0], 3))
        pixels = np.clip(base + noise, 0, 255).astype(np.uint8)
        paths.append(str(folder / f'p{index}.png'))
        Image.fromarray(pixels).save(paths[-1])
    return paths
