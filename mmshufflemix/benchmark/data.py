"""An epoch of MMEngine's Runner whose model does nothing: what loading and the loop cost."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from tempfile import TemporaryDirectory
from typing import Any

import mmengine.dataset
import numpy as np
import torch
from mmengine.config import Config
from mmengine.model import BaseModel
from mmengine.registry import RUNNERS
from mmengine.runner import Runner
from mmpretrain.datasets import BaseDataset
from mmpretrain.registry import DATASETS, MODELS
from torch import Tensor, nn

from mmshufflemix.benchmark.paired import time_pairs

__all__ = [
    'CROP_AND_FLIP',
    'NUM_CLASSES',
    'SIDE',
    'LoadingCost',
    'NoOpModel',
    'RandomImages',
    'build_parts',
    'measure_loading',
    'start_runner',
]

SIDE = 32
NUM_CLASSES = 100
CROP_AND_FLIP = (
    {'type': 'RandomCrop', 'crop_size': SIDE, 'padding': 4},
    {'type': 'RandomFlip', 'prob': 0.5, 'direction': 'horizontal'},
    {'type': 'PackInputs'},
)


@dataclass(frozen=True)
class LoadingCost:
    """What epochs are timed on.

    Attributes:
        images: Images of 32 x 32 in an epoch.
        batch_size: Images in a batch.
        workers: Loading processes of the ordinary pipeline; the fast path has none.
        steps_before: Steps that have been logged already; 200 epochs of CIFAR at batch 128 have
            78 000.
        pairs: Number of timed pairs of epochs.
        seed: Seed of pictures and draws.
    """

    images: int = 12800
    batch_size: int = 128
    workers: int = 0
    steps_before: int = 0
    pairs: int = 5
    seed: int = 0


@DATASETS.register_module()
class RandomImages(BaseDataset):
    """Random pictures like those of CIFAR-100, always the same ones.

    Args:
        size: Number of pictures.
        **kwargs: Arguments of MMPretrain's ``BaseDataset``, such as ``pipeline``.
    """

    def __init__(self, size: int, **kwargs: Any) -> None:
        self.size = size
        super().__init__(ann_file='', **kwargs)

    def load_data_list(self) -> list[dict[str, Any]]:
        """Draw all pictures."""
        rng = np.random.default_rng(0)
        pictures = rng.integers(0, 256, (self.size, SIDE, SIDE, 3), dtype=np.uint8)
        return [
            {'img': picture, 'gt_label': index % NUM_CLASSES}
            for index, picture in enumerate(pictures)
        ]


@MODELS.register_module()
class NoOpModel(BaseModel):
    """Collects the labels as heads do, and learns one number from nothing else."""

    def __init__(self, data_preprocessor: dict | None = None) -> None:
        super().__init__(data_preprocessor)
        self.number = nn.Parameter(torch.zeros(()))

    def forward(
        self, inputs: Tensor, data_samples: list | None = None, mode: str = 'tensor'
    ) -> dict[str, Tensor]:
        """Return a loss that depends on nothing but the number."""
        labels = torch.cat([sample.gt_label for sample in data_samples or ()])
        return {'loss': self.number * len(labels)}


def measure_loading(
    cost: LoadingCost, report: Callable[[int], object] = lambda done: None
) -> dict[str, Any]:
    """Time epochs of MMPretrain's ordinary pipeline and of the fast path, in turn.

    Everything between two epochs' ends counts: loader, crops, flips, normalisation, samples, hooks,
    logs, optimizer. Reading the set into memory does not.

    Args:
        cost: Images, batches and number of pairs.
        report: Called with the number of pairs after each.

    Returns:
        For ``ordinary`` and ``fast`` the median microseconds an image with quartiles, the
        ``speedup`` with quartiles, and the settings.
    """
    with TemporaryDirectory() as folder:
        ordinary = start_runner('Runner', cost, folder)
        fast = start_runner('SmallImageRunner', cost, folder)
        times = time_pairs(
            lambda _: ordinary.train_loop.run_epoch(),
            lambda _: fast.train_loop.run_epoch(),
            lambda number: None,
            cost.pairs,
            warmup=1,
            report=report,
        )
    images = cost.images // cost.batch_size * cost.batch_size
    speedups = [1 / ratio for ratio in times.ratios]
    return {
        **_quartiles('ordinary', [1e6 * seconds / images for seconds in times.base]),
        **_quartiles('fast', [1e6 * seconds / images for seconds in times.other]),
        **_quartiles('speedup', speedups),
        **asdict(cost),
    }


def start_runner(runner_type: str, cost: LoadingCost, folder: str) -> Runner:
    """Build a runner and all that it trains with, up to the first epoch."""
    runner = build_parts(_config(runner_type, cost, folder))
    runner.call_hook('before_train')
    if cost.steps_before:
        _log_steps(runner, cost.steps_before)
    return runner


def build_parts(cfg: Config) -> Runner:
    """Build a runner with its loop, optimizer and schedulers, up to the hooks before a run."""
    runner = RUNNERS.build(cfg)
    runner._train_loop = runner.build_train_loop(runner._train_loop)
    runner.optim_wrapper = runner.build_optim_wrapper(runner.optim_wrapper)
    if runner.param_schedulers is not None:
        runner.param_schedulers = runner.build_param_scheduler(runner.param_schedulers)
    runner.call_hook('before_run')
    return runner


def _config(runner_type: str, cost: LoadingCost, folder: str) -> Config:
    # Names only: MMEngine 0.10 prints a config when a run starts, and cannot print a class.
    settings = {
        'runner_type': runner_type,
        'default_scope': 'mmpretrain',
        'work_dir': folder,
        'experiment_name': uuid.uuid4().hex,
        'log_level': 'ERROR',
        'model': {'type': 'NoOpModel'},
        'data_preprocessor': {
            'type': 'ClsDataPreprocessor',
            'num_classes': NUM_CLASSES,
            'mean': [129.3, 124.1, 112.4],
            'std': [68.2, 65.4, 70.4],
        },
        'train_dataloader': {
            'batch_size': cost.batch_size,
            'num_workers': cost.workers,
            'persistent_workers': cost.workers > 0,
            'drop_last': True,
            'sampler': {'type': 'DefaultSampler', 'shuffle': True},
            'collate_fn': {'type': 'default_collate'},
            'dataset': {
                'type': 'RandomImages',
                'size': cost.images,
                'pipeline': list(CROP_AND_FLIP),
            },
        },
        'train_cfg': {'by_epoch': True, 'max_epochs': 10**6},
        'optim_wrapper': {'optimizer': {'type': 'SGD', 'lr': 0.1, 'momentum': 0.9}},
        'param_scheduler': {'type': 'MultiStepLR', 'milestones': [10**6]},
        'default_hooks': {
            'logger': {'type': 'LoggerHook', 'interval': 100},
            'checkpoint': {'type': 'CheckpointHook', 'interval': -1},
        },
        'custom_hooks': [{'type': 'EpochSeedHook'}],
        'randomness': {'seed': cost.seed},
    }
    return Config(settings)


def _log_steps(runner: Runner, steps: int) -> None:
    """Fill the scalars that a step logs, as if so many had been made."""
    hub = runner.message_hub
    for key in ('train/lr', 'train/data_time', 'train/loss', 'train/time'):
        hub.update_scalar(key, 0.0)
        hub.log_scalars[key] = mmengine.logging.HistoryBuffer([0.0] * steps, [1] * steps)


def _quartiles(name: str, values: list[float]) -> dict[str, float]:
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    return {name: middle, f'{name}_q1': low, f'{name}_q3': high}
