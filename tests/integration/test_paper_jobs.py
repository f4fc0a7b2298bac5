"""The single-label experiments of the paper, shortened, on small data in the official layouts."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from mmengine.config import Config
from mmengine.runner import Runner
from mmpretrain.datasets import CIFAR10, CIFAR100
from PIL import Image

from mmshufflemix.hooks import TrainCheckHook
from tests.image_trees import (
    write_aircraft,
    write_cars,
    write_cifar100,
    write_cub,
    write_tiles,
    write_tiny_imagenet,
)
from tests.integration.recording import recorded_mixing
from tests.integration.small_cifar import SmallCIFAR10, write_cifar
from tests.tiny_job import ROOT
from tests.tool_runner import run_tool

WRITERS: dict[str, Callable[[Path], Any]] = {
    'cifar10': lambda root: write_cifar(root, 6),
    'cifar100': lambda root: write_cifar100(root, 6),
    'tiny_imagenet': lambda root: write_tiny_imagenet(root, count=2),
    'cub': write_cub,
    'cars': write_cars,
    'aircraft': write_aircraft,
}
"""At least four training pictures each."""

COLOUR = (200, 100, 50)

MIXING = ('input_mixup', 'manifold_mixup', 'shufflemix', 'shufflemix_hard', 'nfm', 'shufflemix_nfm')
ROWS = [
    'cifar10/preact18_dropout',
    'cifar10/preact18_cutmix',
    'cifar100/preact34_shufflemix',
    'tiny_imagenet/preact18_shufflemix_nfm',
    'cub/resnet34_shufflemix',
    'cars/resnet50_manifold_mixup',
    'aircraft/resnet34_input_mixup',
]
MORE_ROWS = [
    'cifar10/preact18_baseline',
    'cifar10/preact18_resizemix',
    *(f'cifar10/preact18_{method}' for method in MIXING),
    'cifar100/wide18_2_nfm',
    'tiny_imagenet/wide18_2_shufflemix',
    'cub/resnet50_input_mixup',
    'cars/resnet34_shufflemix',
    'aircraft/resnet50_baseline',
]


@pytest.fixture(scope='module')
def roots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp('data')
    for name, write in WRITERS.items():
        write(folder / name)
    return {name: folder / name for name in WRITERS}


@pytest.fixture(autouse=True)
def accept_generated_pickles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the checksums of the real files, and all batches of CIFAR-10 but one."""
    monkeypatch.setattr(CIFAR10, 'train_list', SmallCIFAR10.train_list)
    monkeypatch.setattr(CIFAR10, 'test_list', SmallCIFAR10.test_list)
    monkeypatch.setattr(CIFAR100, 'train_list', (('train', None),))
    monkeypatch.setattr(CIFAR100, 'test_list', (('test', None),))


def reduced(cfg: Config, root: Path) -> dict[str, Any]:
    """Options that make a config train for two steps of two pictures with a narrow network."""
    options: dict[str, Any] = {
        'train_cfg.max_epochs': 1,
        'model.backbone.base_channels': 4,
        'model.head.in_channels': cfg.model.head.in_channels // 16,
    }
    if cfg.model.backbone.type == 'ResNet':
        options.update({'model.backbone.stem_channels': 4, 'model.backbone.init_cfg': None})
    for key in ('train_dataloader', 'val_dataloader', 'test_dataloader'):
        options[f'{key}.dataset.data_root'] = str(root)
        options.update({f'{key}.batch_size': 2, f'{key}.num_workers': 0})
    options['train_dataloader.dataset.indices'] = 4
    return options


@pytest.mark.parametrize(
    'row', [*ROWS, *(pytest.param(row, marks=pytest.mark.slow) for row in MORE_ROWS)]
)
def test_trains_and_mixes(row: str, roots: dict[str, Path], tmp_path: Path):
    path = ROOT / 'configs' / f'{row}.py'
    options = reduced(Config.fromfile(path), roots[path.parent.name])
    settings = [f'{key}={value}' for key, value in options.items()]
    with recorded_mixing() as plans:
        run_tool('train', path, '--work-dir', tmp_path, '--cfg-options', *settings)
    assert len(plans) == (2 if path.stem.split('_', 1)[1].removeprefix('2_') in MIXING else 0)
    checkpoint = torch.load(tmp_path / 'epoch_1.pth', weights_only=True)
    assert checkpoint['meta']['iter'] == 2
    assert all(torch.isfinite(value).all() for value in checkpoint['state_dict'].values())
    scalars = next(tmp_path.rglob('scalars.json')).read_text()
    assert 'accuracy/top1' in scalars
    assert ('accuracy/top5' in scalars) == row.startswith('tiny_imagenet')


def test_data_sparsity_study(roots: dict[str, Path], tmp_path: Path):
    """A part of each training class by a few lines of config, the test set whole."""
    base = ROOT / 'configs' / 'cub' / 'resnet34_shufflemix.py'
    config = tmp_path / 'cub_half.py'
    config.write_text(
        f'_base_ = [{str(base)!r}]\n'
        'train_dataloader = dict(dataset=dict(\n'
        "    _delete_=True, type='ClassSubset', fraction=0.5,\n"
        '    dataset=_base_.train_dataloader.dataset))\n'
    )
    cfg = Config.fromfile(config)
    options = reduced(cfg, roots['cub'])
    options.pop('train_dataloader.dataset.indices')
    root = options.pop('train_dataloader.dataset.data_root')
    cfg.merge_from_dict({**options, 'train_dataloader.dataset.dataset.data_root': root})
    cfg.work_dir = str(tmp_path / 'work')
    runner = Runner.from_cfg(cfg)
    runner.register_hook(TrainCheckHook())
    runner.train()
    assert runner.train_dataloader.dataset.get_gt_labels().tolist() == [0, 1]
    assert len(runner.val_dataloader.dataset) == 4
    assert runner.iter == 1


def test_cifar100_from_tiles(tmp_path: Path):
    """The reader of tiles takes the place of the official one by its name alone."""
    root = write_tiles(tmp_path / 'tiles', [f'class {number:03d}' for number in range(100)], 1, 1)
    path = ROOT / 'configs' / 'cifar100' / 'preact18_shufflemix.py'
    options = reduced(Config.fromfile(path), root)
    for key in ('train_dataloader', 'val_dataloader', 'test_dataloader'):
        options[f'{key}.dataset.type'] = 'CIFARTiles'
    settings = [f'{key}={value}' for key, value in options.items()]
    run_tool('train', path, '--work-dir', tmp_path / 'work', '--cfg-options', *settings)
    assert (tmp_path / 'work' / 'epoch_1.pth').is_file()


@pytest.mark.parametrize('method', ['baseline', *MIXING])
def test_reduced_cifar100_study(method: str, tmp_path: Path):
    """The first 20 classes, and as many pictures of each as the config says."""
    root = write_tiles(tmp_path / 'tiles', [f'class {number:02d}' for number in range(21)], 3, 1)
    path = ROOT / 'configs' / 'cifar100_small' / f'preact18_{method}.py'
    options = {
        'train_dataloader.dataset.dataset.data_root': root,
        'val_dataloader.dataset.dataset.data_root': root,
        'train_dataloader.dataset.per_class': 2,
        'train_dataloader.batch_size': 20,
        'train_cfg.max_epochs': 1,
        'train_cfg.val_interval': 1,
    }
    settings = [f'{key}={value}' for key, value in options.items()]
    with recorded_mixing() as plans:
        run_tool('train', path, '--work-dir', tmp_path / 'work', '--cfg-options', *settings)
    assert len(plans) == (0 if method == 'baseline' else 2)
    state = torch.load(tmp_path / 'work' / 'epoch_1.pth', weights_only=True)['state_dict']
    assert state['head.fc.weight'].shape == (20, 64)


def paint_cifar(root: Path) -> None:
    write_cifar(root, 2)
    data = np.repeat(np.array(COLOUR, np.uint8), 32 * 32)
    entry = {'data': np.stack([data, data]), 'labels': [0, 1]}
    (root / CIFAR10.base_folder / 'test_batch').write_bytes(pickle.dumps(entry))


def paint_tiny_imagenet(root: Path) -> None:
    write_tiny_imagenet(root)
    for path in (root / 'val' / 'images').iterdir():
        Image.new('RGB', (64, 64), COLOUR).save(path)


@pytest.mark.parametrize(
    ('row', 'paint'),
    [
        ('cifar10/preact18_baseline', paint_cifar),
        ('tiny_imagenet/preact18_baseline', paint_tiny_imagenet),
    ],
)
def test_red_green_and_blue_meet_their_means(
    row: str, paint: Callable[[Path], None], tmp_path: Path
):
    """CIFAR's files list red first; other pictures are read blue first and turned around."""
    paint(tmp_path / 'data')
    cfg = Config.fromfile(ROOT / 'configs' / f'{row}.py')
    cfg.merge_from_dict(reduced(cfg, tmp_path / 'data'))
    cfg.work_dir = str(tmp_path / 'work')
    runner = Runner.from_cfg(cfg)
    batch = next(iter(runner.build_dataloader(cfg.val_dataloader)))
    inputs = runner.model.data_preprocessor(batch, training=False)['inputs']
    mean, std = cfg.data_preprocessor.mean, cfg.data_preprocessor.std
    for channel, value in enumerate(COLOUR):
        expected = (value - mean[channel]) / std[channel]
        # JPEG may change a colour by a grey level or two.
        assert inputs[:, channel].mean().item() == pytest.approx(expected, abs=2 / std[channel])
