"""Images a second of training PreActResNet on small images, through the Runner and without it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from tempfile import TemporaryDirectory
from typing import Any

import torch
from mmengine.config import Config
from mmengine.runner import Runner

from mmshufflemix.benchmark.data import CROP_AND_FLIP, NUM_CLASSES, SIDE, build_parts
from mmshufflemix.benchmark.network import preact_classifier

__all__ = ['TRAINING_KINDS', 'TrainingCost', 'TrainingKind', 'measure_training']


@dataclass(frozen=True)
class TrainingKind:
    """How the network computes.

    Attributes:
        dtype: Type of autocast, such as ``'bfloat16'``; None for float32.
        tf32: Whether convolutions of float32 may use TensorFloat-32.
        channels_last: Whether the weights are in channels-last order.
        compiled: Whether the training step is compiled with inductor.
    """

    dtype: str | None = None
    tf32: bool = True
    channels_last: bool = False
    compiled: bool = False


TRAINING_KINDS = {
    'float32': TrainingKind(tf32=False),
    'tf32': TrainingKind(),
    'fp16': TrainingKind('float16'),
    'bf16': TrainingKind('bfloat16'),
    'bf16-channels-last': TrainingKind('bfloat16', channels_last=True),
    'bf16-channels-last-compile': TrainingKind('bfloat16', channels_last=True, compiled=True),
}


@dataclass(frozen=True)
class TrainingCost:
    """What training is timed on.

    Attributes:
        base_channels: Channels of the first stage of PreActResNet18; 64 in the paper.
        batch_size: Images in a batch.
        steps: Timed steps, an epoch.
        warmup: Steps before them, with and without the Runner; compiling is done there.
    """

    base_channels: int = 64
    batch_size: int = 128
    steps: int = 200
    warmup: int = 20


def measure_training(
    kind: TrainingKind,
    augment: dict[str, Any] | None,
    cost: TrainingCost,
    report: Callable[[str], object] = lambda done: None,
) -> dict[str, Any]:
    """Time an epoch of the fast path's Runner and as many steps of one batch.

    The Runner's epoch has everything between its start and its end: draws, crops, flips, samples,
    hooks and logs. The steps start from images and labels that lie on the device. Without a GPU,
    for a rehearsal, autocast is left out.

    Args:
        kind: How the network computes.
        augment: Config of the augment, or None.
        cost: Network, batch and number of steps.
        report: Called with what was just done.

    Returns:
        Images a second of both, seconds of warming up, and with a GPU the peak memory in MiB.
    """
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    torch.compiler.reset()
    with TemporaryDirectory() as folder, _precision(kind):
        start = time.perf_counter()
        runner = _start_runner(kind, augment, cost, folder)
        loader = iter(runner.train_dataloader)
        for _ in range(cost.warmup):
            runner.model.train_step(next(loader), runner.optim_wrapper)
        _wait()
        warmup_seconds = time.perf_counter() - start
        report('warm')
        runner_seconds = _timed(lambda: runner.train_loop.run_epoch())
        report('epoch')
        batch = _on_device(runner, next(iter(runner.train_dataloader)))
        step_seconds = _timed(lambda: _repeat(runner, batch, cost.steps))
        report('steps')
    images = cost.batch_size * cost.steps
    memory = torch.cuda.max_memory_allocated() / 2**20 if torch.cuda.is_available() else None
    return {
        'runner_images_per_second': images / runner_seconds,
        'step_images_per_second': images / step_seconds,
        'warmup_seconds': warmup_seconds,
        'peak_memory_mib': memory,
        'optim_wrapper': type(runner.optim_wrapper).__name__,
        **asdict(kind),
        **asdict(cost),
    }


def _start_runner(
    kind: TrainingKind, augment: dict[str, Any] | None, cost: TrainingCost, folder: str
) -> Runner:
    """Build a runner and all that it trains with, up to the first epoch."""
    runner = build_parts(_config(kind, augment, cost, folder))
    runner.model.init_weights()
    if kind.compiled:
        runner.model.train_step = torch.compile(runner.model.train_step)
    runner.call_hook('before_train')
    return runner


def _config(
    kind: TrainingKind, augment: dict[str, Any] | None, cost: TrainingCost, folder: str
) -> Config:
    amp: dict[str, Any] = (
        {} if kind.dtype is None else {'type': 'AmpOptimWrapper', 'dtype': kind.dtype}
    )
    if kind.dtype == 'bfloat16':
        amp['loss_scale'] = {'enabled': False}
    settings = {
        'runner_type': 'mmshufflemix.SmallImageRunner',
        'default_scope': 'mmpretrain',
        'work_dir': folder,
        'experiment_name': uuid.uuid4().hex,
        'log_level': 'ERROR',
        'model': preact_classifier(
            18,
            NUM_CLASSES,
            cost.base_channels,
            train_cfg=None if augment is None else {'augments': augment},
        ),
        'data_preprocessor': {
            'num_classes': NUM_CLASSES,
            'mean': [129.3, 124.1, 112.4],
            'std': [68.2, 65.4, 70.4],
            'to_onehot': augment is not None,
        },
        'train_dataloader': {
            'batch_size': cost.batch_size,
            'num_workers': 0,
            'drop_last': True,
            'sampler': {'type': 'DefaultSampler', 'shuffle': True},
            'dataset': {
                'type': 'RandomImages',
                'size': cost.batch_size * max(cost.steps, cost.warmup),
                'pipeline': list(CROP_AND_FLIP),
            },
        },
        'train_cfg': {'by_epoch': True, 'max_epochs': 10**6},
        'optim_wrapper': {
            'optimizer': {'type': 'SGD', 'lr': 0.01, 'momentum': 0.9, 'weight_decay': 5e-4},
            **(amp if torch.cuda.is_available() else {}),
        },
        'default_hooks': {
            'logger': {'type': 'LoggerHook', 'interval': 100},
            'checkpoint': {'type': 'CheckpointHook', 'interval': -1},
        },
        'custom_hooks': [
            {'type': 'EpochSeedHook'},
            *([{'type': 'ChannelsLastHook'}] if kind.channels_last else []),
        ],
        'env_cfg': {'cudnn_benchmark': True},
        'randomness': {'seed': 0},
    }
    return Config(settings)


def _precision(kind: TrainingKind) -> AbstractContextManager[None]:
    return torch.backends.cudnn.flags(
        enabled=True, benchmark=True, deterministic=False, allow_tf32=kind.tf32
    )


def _on_device(runner: Runner, batch: dict[str, Any]) -> dict[str, Any]:
    """Move a batch, without what the loader drew for it."""
    device = next(runner.model.parameters()).device
    samples = [sample.to(device) for sample in batch['data_samples']]
    return {
        'inputs': batch['inputs'][:, :, :SIDE, :SIDE].to(device).contiguous(),
        'data_samples': samples,
    }


def _repeat(runner: Runner, batch: dict[str, Any], steps: int) -> None:
    for _ in range(steps):
        runner.model.train_step(_fresh(batch), runner.optim_wrapper)


def _fresh(batch: dict[str, Any]) -> dict[str, Any]:
    """Take away the one-hot labels that the data preprocessor wrote to the samples before."""
    for sample in batch['data_samples']:
        if 'gt_score' in sample:
            del sample.gt_score
    return dict(batch)


def _timed(run: Callable[[], object]) -> float:
    _wait()
    start = time.perf_counter()
    run()
    _wait()
    return time.perf_counter() - start


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
