"""CIFAR-10 in its own layout, but of one batch of generated pictures."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
from mmpretrain.datasets import CIFAR10


class SmallCIFAR10(CIFAR10):
    """Reads one training batch, whose checksum is not that of the real one."""

    train_list = (('data_batch_1', None),)
    test_list = (('test_batch', None),)


def write_cifar(root: Path, count: int) -> None:
    """Write batches of as many pictures under a folder."""
    folder = root / CIFAR10.base_folder
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for name in ('data_batch_1', 'test_batch'):
        data = rng.integers(0, 256, (count, 3 * 32 * 32), dtype=np.uint8)
        entry = {'data': data, 'labels': [index % 10 for index in range(count)]}
        (folder / name).write_bytes(pickle.dumps(entry))
    meta = {'label_names': [str(index) for index in range(10)]}
    (folder / CIFAR10.meta['filename']).write_bytes(pickle.dumps(meta))
