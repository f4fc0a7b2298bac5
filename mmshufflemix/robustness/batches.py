"""The batches of a test set, decoded once where they fit in memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

__all__ = ['Batch', 'check_memory', 'prepared_batches']


@dataclass(frozen=True)
class Batch:
    """What the model gets.

    Attributes:
        images: Normalised images (N, C, H, W) on the model's device.
        samples: MMPretrain's data samples, one for each image.
    """

    images: Tensor
    samples: list[Any]

    @cached_property
    def labels(self) -> Tensor:
        """The label of each image (N,), for data with one label an image."""
        return torch.cat([sample.gt_label for sample in self.samples]).to(self.images.device)


def check_memory(memory: float) -> int:
    """Return the bytes of some GiB.

    Raises:
        ValueError: If they are negative or not finite.
    """
    if isinstance(memory, int | float) and 0 <= memory * 2**30 < math.inf:
        return int(memory * 2**30)
    raise ValueError(f'memory must be a finite number of GiB of at least 0, got {memory!r}')


def prepared_batches(loader: Any, model: Any, budget: int) -> Callable[[], Iterator[Batch]]:
    """Make a function that walks through the preprocessed batches of a loader in their order.

    Args:
        loader: Test data loader.
        model: Its data preprocessor normalises the images.
        budget: Bytes of images that may be kept. If the set has more, as judged by the first
            batch, the loader is read at every walk.

    Raises:
        ValueError: If the images are not normalised.
    """

    def read() -> Iterator[Batch]:
        for data in loader:
            yield _prepare(data, model.data_preprocessor)

    walk = read()
    first = next(walk, None)
    if first is None:
        raise ValueError('the test set is empty; expected at least one picture')
    images = first.images
    if images.element_size() * images.numel() * len(loader) > budget:
        return read
    kept = [first, *walk]
    return lambda: iter(kept)


def _prepare(data: dict[str, Any], preprocessor: Any) -> Batch:
    given = data['inputs'][0]
    if given.dtype == torch.uint8 and not hasattr(preprocessor, 'mean'):
        raise ValueError(
            'noise levels are those of normalised images, and the data preprocessor of this model '
            'does not normalise; give data_preprocessor the mean and std of training'
        )
    prepared = preprocessor(data, False)
    return Batch(prepared['inputs'], prepared['data_samples'])
