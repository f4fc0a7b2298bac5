"""Multi-label and digits configs: each builds as it is, and trains a few steps at reduced size.

The experiments on single-label images are in test_paper_configs.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from mmengine.config import Config
from mmengine.optim import build_optim_wrapper
from mmpretrain.registry import DATASETS, METRICS, MODELS
from PIL import Image

import mmshufflemix  # noqa: F401
from tests.integration.recording import recorded_mixing
from tests.tiny_job import ROOT
from tests.tool_runner import run_tool
from tests.voc_tree import write_voc_tree

FOLDERS = ('voc07', 'voc07_threshold', 'voc07_small', 'coco14', 'digits', 'digits_single')
CONFIGS = sorted(
    str(path.relative_to(ROOT / 'configs'))
    for folder in FOLDERS
    for path in ROOT.glob(f'configs/{folder}/*.py')
)
PAPER = {
    'resnet101_baseline': None,
    'resnet101_shufflemix': 0.2,
    'mlgcn_baseline': None,
    'mlgcn_shufflemix': 0.3,
}
DIGITS = ('zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine')


def read(name: str) -> Config:
    return Config.fromfile(ROOT / 'configs' / name)


def test_there_are_configs_for_every_data_set() -> None:
    assert {Path(name).parent.name for name in CONFIGS} == set(FOLDERS)
    for data in ('voc07', 'coco14'):
        assert {f'{data}/{name}.py' for name in PAPER} <= set(CONFIGS)


@pytest.mark.parametrize('name', CONFIGS)
def test_builds_as_shipped(name: str) -> None:
    """It runs on the meta device: shapes without numbers, since depth 101 at 448 px takes long."""
    cfg = read(name)
    head = cfg.model.head
    if head.type == 'MLGCNHead':
        size = head.num_classes
        head.label_graph = {
            'classes': np.array([f'class {index}' for index in range(size)]),
            'counts': np.ones(size),
            'cooccurrence': np.zeros((size, size)),
            'embeddings': np.ones((size, head.get('embed_dim', 300))),
        }
    model = MODELS.build(cfg.model).eval().to('meta')
    side = 448 if '448' in str(cfg.train_pipeline) else 64
    features = model.extract_feat(torch.zeros(2, 3, side, side, device='meta'))
    assert features[-1].shape == (2, head.in_channels)
    assert cfg.data_preprocessor.num_classes == head.num_classes
    assert MODELS.build({'type': 'ClsDataPreprocessor', **cfg.data_preprocessor}) is not None
    for key in ('train_dataloader', 'val_dataloader', 'test_dataloader'):
        assert DATASETS.get(cfg[key].dataset.type) is not None
    assert METRICS.build(cfg.val_evaluator) is not None
    assert cfg.train_dataloader.drop_last


@pytest.mark.parametrize('network', ['resnet101', 'mlgcn'])
def test_threshold_sweep(network: str) -> None:
    """The five thresholds of the paper, all else as in the shipped config."""
    shipped = read(f'voc07/{network}_shufflemix.py')
    for tenths in range(1, 6):
        cfg = read(f'voc07_threshold/{network}_m0{tenths}.py')
        assert cfg.model.train_cfg.augments.pop('label_threshold') == tenths / 10
        augments = {**shipped.model.train_cfg.augments}
        augments.pop('label_threshold')
        assert cfg.model.train_cfg.augments == augments
        rest = {key: value for key, value in cfg.items() if key != 'model'}
        assert rest == {key: value for key, value in shipped.items() if key != 'model'}
        assert cfg.model.backbone == shipped.model.backbone
        assert cfg.model.head == shipped.model.head


@pytest.mark.parametrize('data', ['voc07', 'coco14'])
@pytest.mark.parametrize('name', PAPER)
def test_settings_of_the_paper(data: str, name: str) -> None:
    cfg = read(f'{data}/{name}.py')
    augments = (cfg.model.get('train_cfg') or {}).get('augments')
    assert (augments and augments.label_threshold) == PAPER[name]
    assert cfg.optim_wrapper.clip_grad.max_norm == 10
    assert cfg.default_hooks.checkpoint.save_best == 'multi-label/mAP'
    assert cfg.model.head.loss.loss_weight == 1 / cfg.model.head.num_classes
    model = torch.nn.ModuleDict({'backbone': torch.nn.Linear(1, 1), 'head': torch.nn.Linear(1, 1)})
    rates = {
        parameter: group['lr']
        for group in build_optim_wrapper(model, cfg.optim_wrapper).param_groups
        for parameter in group['params']
    }
    assert rates[model['backbone'].weight] == pytest.approx(0.01)
    assert rates[model['head'].weight] == pytest.approx(0.1)


def write_voc(root: Path, classes: tuple[str, ...]) -> None:
    images = {
        str(index): [(classes[index], False), (classes[index + 1], index % 2 == 0)]
        for index in range(4)
    }
    write_voc_tree(root, images, {'trainval': list(images), 'test': list(images)})


def write_coco(root: Path) -> None:
    (root / 'annotations').mkdir(parents=True)
    for split in ('train2014', 'val2014'):
        (root / split).mkdir()
        content = {
            'images': [{'id': i, 'file_name': f'{i}.jpg'} for i in range(4)],
            'categories': [{'id': i, 'name': f'name {i}'} for i in range(1, 81)],
            'annotations': [{'id': i, 'image_id': i // 2, 'category_id': 70 + i} for i in range(8)],
        }
        (root / 'annotations' / f'instances_{split}.json').write_text(json.dumps(content))
        for i in range(4):
            Image.new('RGB', (40, 32), (60 * i, 0, 0)).save(root / split / f'{i}.jpg')


def write_singles(root: Path) -> None:
    for split in ('train', 'test'):
        for index, name in enumerate('0123'):
            (root / split / name).mkdir(parents=True)
            picture = Image.new('RGB', (32, 32), (60 * index, 0, 0))
            picture.save(root / split / name / 'picture.png')


@pytest.fixture(scope='module')
def roots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Four pictures of each data set, by folder of configs."""
    folder = tmp_path_factory.mktemp('data')
    writers: dict[str, Callable[[Path], None]] = {
        'voc07': lambda root: write_voc(root, ('aeroplane', 'bicycle', 'bird', 'boat', 'bottle')),
        'coco14': write_coco,
        'digits': lambda root: write_voc(root, DIGITS),
        'digits_single': write_singles,
    }
    for name, write in writers.items():
        write(folder / name)
    for name in ('voc07_threshold', 'voc07_small'):
        writers[name] = writers['voc07']
    return {name: folder / ('voc07' if 'voc07' in name else name) for name in writers}


def reduced(cfg: Config, root: Path, folder: Path) -> list[str]:
    """Options that make any of the configs train in a second."""
    options: dict[str, Any] = {'train_cfg.max_epochs': 1, 'train_cfg.val_interval': 1}
    if cfg.model.backbone.type == 'ResNet':
        narrow = {'depth': 18, 'stem_channels': 8, 'base_channels': 8, 'init_cfg': None}
        options.update({f'model.backbone.{key}': value for key, value in narrow.items()})
        options['model.head.in_channels'] = 64
    elif cfg.model.backbone.type == 'TIMMBackbone':
        options['model.backbone.init_cfg'] = None
    if cfg.model.head.type == 'MLGCNHead':
        options['model.head.label_graph'] = folder / 'graph.npz'
    for key in ('train_dataloader', 'val_dataloader', 'test_dataloader'):
        options[f'{key}.dataset.data_root'] = root
        options.update({f'{key}.batch_size': 2, f'{key}.num_workers': 0})
        for index, transform in enumerate(cfg[key].dataset.pipeline):
            if transform.type == 'MultiScaleCrop':
                options[f'{key}.dataset.pipeline.{index}.size'] = 64
            elif transform.type == 'Resize':
                options[f'{key}.dataset.pipeline.{index}.scale'] = '(64,64)'
    return [f'{key}={value}' for key, value in options.items()]


@pytest.mark.parametrize('name', CONFIGS)
def test_trains_and_mixes(name: str, roots: dict[str, Path], tmp_path: Path) -> None:
    path = ROOT / 'configs' / name
    options = reduced(read(name), roots[path.parent.name], tmp_path)
    with recorded_mixing() as plans:
        run_tool('train', path, '--work-dir', tmp_path, '--cfg-options', *options)
    assert len(plans) == (0 if 'baseline' in name else 2)
    checkpoint = torch.load(tmp_path / 'epoch_1.pth', weights_only=False)
    assert checkpoint['meta']['iter'] == 2
    assert all(torch.isfinite(value).all() for value in checkpoint['state_dict'].values())
