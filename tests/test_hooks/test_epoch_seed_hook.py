"""Resuming equals going on, seeds never repeat."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from mmengine.config import Config
from mmengine.logging import MMLogger
from mmengine.runner import Runner

import mmshufflemix
from mmshufflemix.hooks.epoch_seed_hook import seed_everything, seed_worker
from tests.tiny_job import load_job, write_job
from tests.tool_runner import run_processes

# What differs between two equal runs: clock times and names made from them.
TIMES = re.compile(r'^\S+ \S+ - |eta: \S+|(?:data_)?time: [\d.]+|memory: \d+|tiny_\d+_\d+')


@pytest.fixture(scope='module')
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_job(tmp_path_factory.mktemp('job'))


@pytest.fixture(autouse=True)
def _close_logs() -> Iterator[None]:
    yield
    for logger in MMLogger._instance_dict.values():
        for handler in logger.handlers:
            handler.close()


def train(cfg: Config, name: str) -> Runner:
    cfg.experiment_name = name
    runner = Runner.from_cfg(cfg)
    runner.train()
    return runner


def log_lines(work_dir: Path, first_epoch: int = 1) -> list[str]:
    """Return the training and validation lines of the newest log from an epoch on, no times."""
    log = max(work_dir.glob('*/*.log'))
    lines = []
    for line in log.read_text().splitlines():
        found = re.search(r'Epoch\((?:train|val)\) *\[(\d+)\]', line)
        if found and int(found.group(1)) >= first_epoch:
            lines.append(' '.join(TIMES.sub('', line).split()))
    return lines


def weights(path: Path) -> dict[str, torch.Tensor]:
    return torch.load(path, weights_only=True)['state_dict']


def assert_equal_weights(one: Path, other: Path) -> None:
    first, second = weights(one), weights(other)
    assert list(first) == list(second)
    for name in first:
        assert torch.equal(first[name], second[name]), name


@pytest.mark.parametrize('workers', [0, pytest.param(2, marks=pytest.mark.slow)])
def test_four_epochs_equal_two_and_two_more(config: Path, tmp_path: Path, workers: int) -> None:
    options = dict(
        train_dataloader__num_workers=workers,
        train_dataloader__persistent_workers=workers > 0,
        train_cfg__max_epochs=4,
    )
    whole, parts = tmp_path / 'whole', tmp_path / 'parts'
    train(load_job(config, whole, **options), f'whole{workers}')
    stopped = load_job(config, parts, **options)
    stopped.train_cfg.max_epochs = 2
    train(stopped, f'stopped{workers}')
    resumed = load_job(config, parts, **options)
    resumed.resume = True
    train(resumed, f'resumed{workers}')

    assert_equal_weights(whole / 'epoch_4.pth', parts / 'epoch_4.pth')
    expected = log_lines(whole, first_epoch=3)
    assert len(expected) == 2 * (3 + 4)
    assert log_lines(parts, first_epoch=3) == expected


def run_two_processes(config: Path, work_dir: Path, *options: str) -> None:
    result = run_processes('dist_train', config, 2, '--work-dir', work_dir, *options)
    assert result.returncode == 0, result.stderr[-3000:]


@pytest.mark.slow
def test_two_processes_resume_exactly(config: Path, tmp_path: Path) -> None:
    whole, parts = tmp_path / 'whole', tmp_path / 'parts'
    workers = ['--cfg-options', 'train_dataloader.num_workers=2']
    run_two_processes(config, whole, *workers, 'train_cfg.max_epochs=4')
    run_two_processes(config, parts, *workers, 'train_cfg.max_epochs=2')
    run_two_processes(config, parts, '--resume', *workers, 'train_cfg.max_epochs=4')
    assert_equal_weights(whole / 'epoch_4.pth', parts / 'epoch_4.pth')
    assert log_lines(parts, first_epoch=3) == log_lines(whole, first_epoch=3)


def record_draws(runner: Runner) -> list[tuple[float, float, float]]:
    """Note what the three generators would give at every iteration."""
    draws: list[tuple[float, float, float]] = []

    class Recorder(mmshufflemix.hooks.EpochSeedHook):
        def before_train(self, runner: Runner) -> None: ...

        def before_train_epoch(self, runner: Runner) -> None: ...

        def before_train_iter(self, runner: Runner, batch_idx: int, data_batch: object) -> None:
            draws.append((random.random(), np.random.rand(), torch.rand(()).item()))

    runner.register_hook(Recorder(), priority='LOWEST')
    return draws


def test_epochs_draw_differently_and_runs_equally(config: Path, tmp_path: Path) -> None:
    seen = []
    for name, resume in (('one', False), ('two', False), ('three', True)):
        cfg = load_job(config, tmp_path / ('one' if resume else name))
        cfg.experiment_name = f'draws_{name}'
        if resume:
            cfg.resume, cfg.load_from = True, str(tmp_path / 'one' / 'epoch_1.pth')
        runner = Runner.from_cfg(cfg)
        draws = record_draws(runner)
        runner.train()
        seen.append(draws)
    first, second, resumed = seen
    assert len(first) == 6
    assert len(set(first)) == 6
    assert first == second
    assert resumed == first[3:]


def test_an_unset_seed_is_taken_over_on_resume(config: Path, tmp_path: Path) -> None:
    whole = load_job(config, tmp_path, train_cfg__max_epochs=3, randomness__seed=None)
    train(whole, 'unseeded')
    expected = weights(tmp_path / 'epoch_3.pth')
    resumed = load_job(config, tmp_path, train_cfg__max_epochs=3, randomness__seed=None)
    resumed.resume, resumed.load_from = True, str(tmp_path / 'epoch_1.pth')
    train(resumed, 'unseeded_resumed')
    for name, value in weights(tmp_path / 'epoch_3.pth').items():
        assert torch.equal(value, expected[name]), name


def draw_all() -> tuple[float, float, float]:
    return random.random(), np.random.rand(), torch.rand(()).item()


def test_seeds_depend_on_every_number() -> None:
    draws = {}
    for entropy in [
        (0, 0, 0, 0),
        (1, 0, 0, 0),
        (0, 1, 0, 0),
        (0, 0, 1, 0),
        (0, 0, 0, 1),
        (0, 0, 0),
    ]:
        seed_everything(*entropy)
        draws[entropy] = draw_all()
    seed_everything(0, 0, 0, 0)
    assert draw_all() == draws[0, 0, 0, 0]
    for position in range(3):
        values = {draw[position] for entropy, draw in draws.items() if len(entropy) == 4}
        assert len(values) == 5


def test_worker_function_runs_the_loaders_own_one_first() -> None:
    calls = []
    seed_worker(3, entropy=(1, 2), then=calls.append)
    drawn = draw_all()
    assert calls == [3]
    seed_everything(1, 2, 3)
    assert draw_all() == drawn
