"""Training, resuming and testing with the fast path, against the ordinary Runner."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from mmengine.config import Config
from mmengine.registry import RUNNERS
from mmpretrain.registry import MODELS

from mmshufflemix import InMemoryImages, SmallImagePreprocessor, SmallImageRunner
from mmshufflemix.hooks import EpochSeedHook
from mmshufflemix.small_images.runner import fast_loader, fast_model
from tests.integration.recording import recorded_mixing
from tests.test_small_images.fast_jobs import (
    FAST,
    fixed_pipeline,
    read_foreign_job,
    read_job,
)
from tests.tiny_job import ROOT, write_job
from tests.tool_runner import run_tool


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp('job')


def weights(path: Path) -> dict[str, torch.Tensor]:
    return torch.load(path, weights_only=False)['state_dict']


def assert_equal_weights(one: Path, two: Path) -> None:
    first, second = weights(one), weights(two)
    assert first.keys() == second.keys()
    for name, value in first.items():
        assert torch.equal(value, second[name]), name


def train(cfg: Config) -> Any:
    runner = RUNNERS.build(cfg)
    runner.train()
    return runner


RECIPES: dict[str, dict[str, Any]] = {
    'baseline': dict(model__train_cfg=None),
    'ShuffleMix': {},
    'CutMix': dict(
        model__train_cfg__augments=dict(type='CutMix', alpha=1.0),
        optim_wrapper__accumulative_counts=2,
    ),
    'EMA': dict(custom_hooks=[dict(type='EpochSeedHook'), dict(type='EMAHook')]),
}


@pytest.mark.parametrize('name', RECIPES)
def test_training_without_crops_equals_the_ordinary_one(folder: Path, tmp_path: Path, name: str):
    """Nothing is drawn for images: weights and validation are the same to the last bit."""
    mixed, logged = [], []
    for kind in ('plain', 'fast'):
        cfg = read_job(folder, tmp_path / kind, kind == 'fast', **RECIPES[name])
        cfg.train_dataloader.dataset = dict(
            type='RepeatDataset', times=2, dataset=fixed_pipeline(cfg).train_dataloader.dataset
        )
        with recorded_mixing(lambda plan: plan.site.name) as sites:
            runner = train(cfg)
        mixed.append(list(sites))
        hub = runner.message_hub
        scalars = ('train/loss', 'val/accuracy/top1')
        logged.append([hub.get_scalar(key).data[0].tolist() for key in scalars])
        assert isinstance(runner.train_dataloader.dataset, InMemoryImages) == (kind == 'fast')
    assert mixed[0] == mixed[1]
    assert len(mixed[0]) == (12 if name in ('ShuffleMix', 'EMA') else 0)
    assert_equal_weights(tmp_path / 'plain/epoch_2.pth', tmp_path / 'fast/epoch_2.pth')
    assert logged[0] == logged[1]
    assert len(logged[0][0]) == 12
    assert len(logged[0][1]) == 2


def test_resume_is_bit_exact_and_nothing_of_ours_is_in_the_checkpoint(folder: Path, tmp_path: Path):
    write_job(folder)
    options = ['--cfg-options', f'runner_type={FAST}']
    whole, resumed = tmp_path / 'whole', tmp_path / 'resumed'
    run_tool('train', folder / 'tiny.py', '--work-dir', whole, *options)
    resumed.mkdir()
    shutil.copy(whole / 'epoch_1.pth', resumed)
    run_tool('train', folder / 'tiny.py', '--work-dir', resumed, '--resume', *options)
    assert_equal_weights(whole / 'epoch_2.pth', resumed / 'epoch_2.pth')
    assert b'small_images' not in (whole / 'epoch_2.pth').read_bytes()
    assert 'InMemoryImages' not in (whole / 'tiny.py').read_text()
    assert FAST in (whole / 'tiny.py').read_text()
    first = torch.load(whole / 'epoch_1.pth', weights_only=True)
    assert first['meta']['epoch'] == 1


def test_resume_is_bit_exact_without_hooks_of_ours(tmp_path: Path):
    whole, resumed = tmp_path / 'whole', tmp_path / 'resumed'
    train(read_foreign_job(tmp_path, whole))
    cfg = read_foreign_job(tmp_path, resumed, load_from=str(whole / 'epoch_1.pth'), resume=True)
    train(cfg)
    assert_equal_weights(whole / 'epoch_2.pth', resumed / 'epoch_2.pth')


@pytest.mark.parametrize('read', [read_job, read_foreign_job])
def test_epochs_are_seeded_once(read: Any, tmp_path: Path):
    runner = RUNNERS.build(read(tmp_path, tmp_path / 'run', runner_type=FAST))
    assert [type(hook) for hook in runner.hooks].count(EpochSeedHook) == 1


def test_mixing_reaches_hidden_layers(folder: Path, tmp_path: Path):
    cfg = read_job(folder, tmp_path, True, train_cfg__max_epochs=4)
    with recorded_mixing(lambda plan: plan.site.name) as sites:
        train(cfg)
    assert len(sites) == 12
    assert any(site.startswith('backbone.layer') for site in sites)


def test_testing_gives_equal_predictions(folder: Path, tmp_path: Path):
    cfg = read_job(folder, tmp_path / 'train', False)
    train(cfg)
    checkpoint = tmp_path / 'train' / 'epoch_2.pth'
    outs = []
    for kind in ('plain', 'fast'):
        out = tmp_path / f'{kind}.json'
        options = [f'runner_type={FAST}'] if kind == 'fast' else []
        run_tool(
            'test', folder / 'tiny.py', checkpoint, '--work-dir', tmp_path / kind, '--out', out,
            '--cfg-options', 'log_level=ERROR', *options,
        )  # fmt: skip
        outs.append(out.read_text())
    assert outs[0] == outs[1]
    assert outs[0].count('pred_score') == 12


def test_the_dotted_name_needs_no_custom_imports(folder: Path, tmp_path: Path):
    cfg = read_job(folder, tmp_path, False, runner_type='mmshufflemix.SmallImageRunner')
    assert type(RUNNERS.build(cfg)) is SmallImageRunner


def test_loaders_lose_their_workers():
    loader = dict(
        dataset=dict(type='CIFAR10'), batch_size=7, num_workers=4, prefetch_factor=2,
        persistent_workers=True, sampler=dict(type='DefaultSampler'), pin_memory=True,
    )  # fmt: skip
    fast = fast_loader(loader)
    assert fast['num_workers'] == 0
    assert not fast['persistent_workers']
    assert 'prefetch_factor' not in fast
    assert fast['dataset'] == dict(type=InMemoryImages, dataset=dict(type='CIFAR10'))
    assert {key: fast[key] for key in ('batch_size', 'sampler', 'pin_memory')} == {
        key: loader[key] for key in ('batch_size', 'sampler', 'pin_memory')
    }
    assert loader['num_workers'] == 4


def test_other_preprocessors_are_refused():
    for kind in ('ClsDataPreprocessor', 'mmpretrain.ClsDataPreprocessor', None):
        settings = dict(mean=[1], **({'type': kind} if kind else {}))
        fast = fast_model(dict(type='ImageClassifier', data_preprocessor=settings))
        assert fast['data_preprocessor'] == dict(mean=[1], type=SmallImagePreprocessor)
    assert fast_model(dict(type='X'))['data_preprocessor'] == dict(type=SmallImagePreprocessor)
    with pytest.raises(ValueError, match="the model has 'SelfSupDataPreprocessor'"):
        fast_model(dict(data_preprocessor=dict(type='SelfSupDataPreprocessor')))


@pytest.mark.parametrize(
    'name',
    ['cifar100/preact18_shufflemix', 'cifar100_small/preact18_baseline',
     'cifar100_small/preact18_shufflemix'],
)  # fmt: skip
def test_shipped_configs_change_the_runner_and_nothing_else(name: str):
    plain = Config.fromfile(ROOT / 'configs' / f'{name}.py')
    fast = Config.fromfile(ROOT / 'configs' / f'{name}_fast.py')
    assert fast.pop('runner_type') == 'SmallImageRunner'
    assert fast.to_dict() == plain.to_dict()
    assert MODELS.build(fast_model(fast.model)) is not None


@pytest.mark.slow
def test_the_shipped_config_on_cifar(shared_data: Path, tmp_path: Path):
    """Two epochs of a few real pictures, resumed after the first."""
    options = ['--cfg-options', 'train_cfg.max_epochs=2', 'train_cfg.val_interval=1']
    for name in ('train', 'val', 'test'):
        options.append(f'{name}_dataloader.dataset.dataset.data_root={shared_data / "cifar100"}')
        options.append(f'{name}_dataloader.dataset.per_class=10')
    config = ROOT / 'configs' / 'cifar100_small' / 'preact18_shufflemix_fast.py'
    whole, resumed = tmp_path / 'whole', tmp_path / 'resumed'
    run_tool('train', config, '--work-dir', whole, *options)
    assert 'Mixed layers: ' in max(whole.glob('*/*.log')).read_text()
    resumed.mkdir()
    shutil.copy(whole / 'epoch_1.pth', resumed)
    run_tool('train', config, '--work-dir', resumed, '--resume', *options)
    assert_equal_weights(whole / 'epoch_2.pth', resumed / 'epoch_2.pth')
