"""Seed every random draw of a training epoch from the epoch, so that resuming repeats nothing."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from mmengine import dist
from mmengine.hooks import Hook
from mmengine.runner import Runner
from mmpretrain.registry import HOOKS
from torch.utils.data import DataLoader

__all__ = ['EpochSeedHook', 'seed_everything', 'seed_worker']


def seed_everything(*entropy: int) -> None:
    """Seed Python's, NumPy's and PyTorch's global generators from a sequence of integers.

    The sequence is mixed by ``numpy.random.SeedSequence``: neighbouring epochs, ranks and workers
    get unrelated streams, which adding them up would not give.

    Args:
        entropy: Non-negative integers, for example seed, rank and epoch.
    """
    words = np.random.SeedSequence(entropy).generate_state(8)
    random.seed(int.from_bytes(words[:4].tobytes(), 'little'))
    # MMPretrain's transforms and its choice among batch augments draw from NumPy's global state.
    np.random.seed(words[4:6])  # noqa: NPY002
    torch.manual_seed(int.from_bytes(words[6:8].tobytes(), 'little'))


def seed_worker(
    worker_id: int, entropy: tuple[int, ...], then: Callable[[int], None] | None
) -> None:
    """Start one data loading worker: run the loader's own function, then seed the worker.

    Args:
        worker_id: Number of the worker, 0 to n - 1.
        entropy: What the main process was seeded from.
        then: The worker function that the loader had, if any; it runs first.
    """
    if then is not None:
        then(worker_id)
    seed_everything(*entropy, worker_id)


@HOOKS.register_module()
class EpochSeedHook(Hook):
    """Make training of 4 epochs equal training of 2, stopping, and 2 more.

    Before every training epoch the main process and the data loading workers are seeded from
    (seed, rank, epoch, iteration). Epochs therefore never repeat each other's draws, also not after
    a resume; two runs with one seed are equal; validation in between changes nothing; and the ranks
    of one run draw differently from each other. Workers are started anew every epoch, including
    persistent ones, because a running worker cannot be seeded.

    With iteration-based training there is one "epoch": it is seeded where it starts or resumes,
    which repeats no draw but is not equal to a run without the stop.
    """

    priority = 'VERY_HIGH'

    def __init__(self) -> None:
        self._own_worker_init: Callable[[int], None] | None = None
        self._seed = 0

    def before_train(self, runner: Runner) -> None:
        """Take the run's seed, the same on every rank, and the loader's own worker function."""
        seeds = [runner.seed]
        dist.broadcast_object_list(seeds)
        self._seed = int(seeds[0])
        loader = runner.train_dataloader
        self._own_worker_init = loader.worker_init_fn
        # On a resume the sampler was built before the checkpoint's seed was known.
        if hasattr(loader.sampler, 'seed'):
            loader.sampler.seed = self._seed

    def before_train_epoch(self, runner: Runner) -> None:
        """Seed the main process and the workers of the coming epoch."""
        entropy = (self._seed, dist.get_rank(), runner.epoch, runner.iter)
        seed_everything(*entropy)
        loader: DataLoader = runner.train_dataloader
        if loader.num_workers > 0:
            loader.worker_init_fn = partial(
                seed_worker, entropy=entropy, then=self._own_worker_init
            )
            # Drops persistent workers; the loader starts new ones, with the function above.
            loader._iterator = None
