from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest
import torch
from mmengine.config import Config

from mmshufflemix.benchmark.commands.gpu import run
from mmshufflemix.benchmark.commands.timed import without_amp
from mmshufflemix.benchmark.gpu import TRAINING_KINDS, TrainingCost, measure_training
from mmshufflemix.benchmark.timed_training import TrialTimes, fit_epochs, train_within
from tests.integration.recording import recorded_mixing
from tests.test_small_images.fast_jobs import read_job
from tests.tiny_job import ROOT

TINY = TrainingCost(base_channels=4, batch_size=4, steps=3, warmup=2)
CONFIG = ROOT / 'configs' / 'cifar100' / 'preact18_shufflemix_gpu.py'


@pytest.mark.parametrize('kind', ['float32', 'bf16-channels-last'])
def test_training_is_timed_and_mixes(kind: str):
    done: list[str] = []
    with recorded_mixing() as plans:
        result = measure_training(TRAINING_KINDS[kind], {'type': 'ShuffleMix'}, TINY, done.append)
    # Those to warm up, an epoch, and as many steps of one batch.
    assert len(plans) == 2 + 3 + 3
    assert done == ['warm', 'epoch', 'steps']
    assert min(result['runner_images_per_second'], result['step_images_per_second']) > 0
    assert result['channels_last'] == (kind != 'float32')
    assert (result['peak_memory_mib'] is None) == (not torch.cuda.is_available())


def test_tensor_float_is_put_back():
    before = torch.backends.cudnn.allow_tf32
    measure_training(TRAINING_KINDS['float32'], None, TINY)
    assert torch.backends.cudnn.allow_tf32 == before


def test_another_device_than_the_runner_takes_is_refused():
    other = 'cpu' if torch.cuda.is_available() else 'cuda'
    with pytest.raises(ValueError, match='give the other device'):
        run(Namespace(device=other))


@pytest.mark.parametrize(
    ('times', 'seconds', 'expected'),
    [
        # 94 of 100 s; 4 to start; e epochs of 2 s and ceil(e / 10) validations of 1 s in 90 s:
        # 42 epochs are 84 + 5, and 43 would be 86 + 5.
        (TrialTimes(4, 2, 1), 100, 42),
        (TrialTimes(4, 0.1, 0.1), 100, 200),
        (TrialTimes(90, 3, 1), 100, 1),
    ],
)
def test_epochs_that_fit(times: TrialTimes, seconds: float, expected: int):
    assert fit_epochs(times, seconds, 200, 10) == expected


def test_no_epoch_fits():
    with pytest.raises(ValueError, match='not one epoch fits: 10 s are left'):
        fit_epochs(TrialTimes(5, 5, 1), 10, 200, 10)


def test_a_training_is_shortened_and_marked(tmp_path: Path):
    cfg = read_job(tmp_path, tmp_path / 'unused', fast=True, train_cfg__max_epochs=4)
    result = train_within(cfg, 60, tmp_path / 'short', epochs=2)
    assert (result['epochs'], result['of_epochs'], result['shortened']) == (2, 4, True)
    assert list(result['accuracy']) == ['1', '2']
    assert result['trial'] is None
    assert cfg.train_cfg.max_epochs == 4


def test_a_trial_says_that_all_fits(tmp_path: Path):
    cfg = read_job(tmp_path, tmp_path / 'unused', fast=True, train_cfg__max_epochs=3)
    result = train_within(cfg, 600, tmp_path / 'run')
    assert (result['epochs'], result['shortened']) == (3, False)
    assert min(result['trial'].values()) > 0
    assert list(result['accuracy']) == ['1', '2', '3']
    assert (tmp_path / 'trial').exists() is False
    assert (tmp_path / 'run' / 'training' / 'epoch_3.pth').is_file()


def test_the_config_is_the_recipe():
    paper = Config.fromfile(CONFIG.with_name('preact18_shufflemix.py'))
    cfg = without_amp(Config.fromfile(CONFIG))
    assert cfg.model == paper.model
    assert cfg.optim_wrapper == paper.optim_wrapper
    assert cfg.param_scheduler == paper.param_scheduler
    assert cfg.train_cfg.max_epochs == paper.train_cfg.max_epochs == 200
    assert cfg.train_dataloader.batch_size == paper.train_dataloader.batch_size
    assert cfg.train_dataloader.dataset.pipeline == paper.train_dataloader.dataset.pipeline
    assert cfg.train_dataloader.dataset.type == 'CIFARTiles'


def test_one_epoch_without_validation_has_a_trial(tmp_path: Path):
    cfg = read_job(tmp_path, tmp_path / 'unused', fast=True, train_cfg__max_epochs=1)
    cfg.val_dataloader = cfg.val_cfg = cfg.val_evaluator = None
    result = train_within(cfg, 600, tmp_path / 'run')
    assert (result['epochs'], result['shortened'], result['accuracy']) == (1, False, {})
    assert result['trial']['validation'] == 0
