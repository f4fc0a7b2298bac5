"""Train a config within a time, its schedule shortened to the epochs that fit."""

from __future__ import annotations

import math
import time
import uuid
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mmengine.config import Config
from mmengine.hooks import Hook
from mmengine.runner import Runner

from mmshufflemix.launch import build_runner
from mmshufflemix.prepare import prepare_config
from mmshufflemix.reproduce.settings import shorten_schedule
from mmshufflemix.resumable import make_resumable
from mmshufflemix.run_logs import read_validations

__all__ = ['EpochClock', 'TrialTimes', 'fit_epochs', 'train_within']

_TRIAL_EPOCHS = 2
# Epochs differ, and a run that is killed at its limit has no last epoch.
_SAFETY = 0.94


@dataclass(frozen=True)
class TrialTimes:
    """What a short training took, in seconds.

    Attributes:
        start: All but the steady epochs and the validation: reading, building, warming up.
        epoch: A steady epoch.
        validation: A validation.
    """

    start: float
    epoch: float
    validation: float


@dataclass
class EpochClock(Hook):
    """Notes the seconds of each epoch and of each validation."""

    epochs: list[float] = field(default_factory=list)
    validations: list[float] = field(default_factory=list)

    # After the hooks of the Runner that wait for the device, and no hook of ours is timed.
    priority = 'LOWEST'

    def before_train_epoch(self, runner: Runner) -> None:
        """Start the clock."""
        self._start = time.perf_counter()

    def after_train_epoch(self, runner: Runner) -> None:
        """Note the epoch."""
        self.epochs.append(time.perf_counter() - self._start)

    def before_val_epoch(self, runner: Runner) -> None:
        """Start the clock."""
        self._start = time.perf_counter()

    def after_val_epoch(self, runner: Runner, metrics: dict[str, float] | None = None) -> None:
        """Note the validation."""
        self.validations.append(time.perf_counter() - self._start)


def fit_epochs(times: TrialTimes, seconds: float, full: int, interval: int) -> int:
    """Return how many epochs fit into a time, at most the full schedule.

    Args:
        times: What a trial took.
        seconds: Time for everything, start included; a part is kept back.
        full: Epochs of the full schedule.
        interval: Epochs between validations; the last epoch has one, too.

    Raises:
        ValueError: If not one epoch fits.
    """
    usable = _SAFETY * seconds - times.start
    for epochs in range(full, 0, -1):
        if epochs * times.epoch + math.ceil(epochs / interval) * times.validation <= usable:
            return epochs
    left = max(seconds, 0)
    raise ValueError(
        f'not one epoch fits: {left:.0f} s are left, starting takes {times.start:.0f} s, an '
        f'epoch {times.epoch:.1f} s and a validation {times.validation:.1f} s; give more minutes'
    )


def train_within(
    cfg: Config, seconds: float, work_dir: Path, epochs: int | None = None
) -> dict[str, Any]:
    """Train once, with the schedule of the config or as much of it as fits.

    A trial of two epochs, in a folder of its own, says how long an epoch takes; its weights are
    not used. A shortened schedule drops its learning rate in proportion, see
    :func:`~mmshufflemix.reproduce.settings.shorten_schedule`, and its accuracy is not that of the
    full one.

    Args:
        cfg: A config that is trained by epochs.
        seconds: Time for trial and training.
        work_dir: Folder for logs and checkpoints.
        epochs: So many epochs without a trial, whatever they take; None means as many as fit.

    Returns:
        ``epochs``, ``of_epochs``, ``shortened``, the measures of each validation by ``accuracy``,
        the seconds of the ``training``, of the median ``epoch`` and of the ``trial``.
    """
    begin = time.perf_counter()
    full = cfg.train_cfg.max_epochs
    trial: TrialTimes | None = None
    if epochs is None:
        trial = _trial(cfg, work_dir / 'trial')
        left = seconds - (time.perf_counter() - begin)
        epochs = fit_epochs(trial, left, full, cfg.train_cfg.get('val_interval', 1))
    shown = f'{epochs} of {full} epochs' + (' (shortened)' if epochs < full else '')
    print(f'training {shown}', flush=True)
    clock = EpochClock()
    started = time.perf_counter()
    _train(cfg if epochs == full else shorten_schedule(cfg, epochs), work_dir / 'training', clock)
    return {
        'epochs': epochs,
        'of_epochs': full,
        'shortened': epochs < full,
        'accuracy': {str(k): v for k, v in read_validations(work_dir / 'training').items()},
        'training_seconds': time.perf_counter() - started,
        'epoch_seconds': sorted(clock.epochs)[len(clock.epochs) // 2],
        'trial': trial and asdict(trial),
    }


def _trial(cfg: Config, work_dir: Path) -> TrialTimes:
    full = cfg.train_cfg.max_epochs
    # A training of one epoch cannot be shortened.
    short = deepcopy(cfg) if full == 1 else shorten_schedule(cfg, min(_TRIAL_EPOCHS, full - 1))
    short.train_cfg.val_interval = short.train_cfg.max_epochs
    clock = EpochClock()
    begin = time.perf_counter()
    _train(short, work_dir, clock)
    whole = time.perf_counter() - begin
    # A config need not validate.
    epoch, validation = clock.epochs[-1], (clock.validations or [0.0])[-1]
    return TrialTimes(whole - len(clock.epochs) * epoch - validation, epoch, validation)


def _train(cfg: Config, work_dir: Path, clock: EpochClock) -> None:
    cfg = deepcopy(cfg)
    cfg.work_dir = str(work_dir)
    # MMEngine keeps logs and histories of one process under this name.
    cfg.experiment_name = uuid.uuid4().hex
    runner = build_runner(make_resumable(prepare_config(cfg)))
    runner.register_hook(clock)
    runner.train()
