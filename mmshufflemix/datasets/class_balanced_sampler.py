"""Show images of rare classes more often, in epochs of one length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import chain, cycle, islice

import numpy as np
import torch
from mmengine.dataset import DefaultSampler
from mmpretrain.registry import DATA_SAMPLERS
from torch import Tensor

from mmshufflemix.datasets.training_labels import training_labels

__all__ = ['ClassBalancedSampler', 'draw_by_weight', 'repeat_factors']


@DATA_SAMPLERS.register_module()
class ClassBalancedSampler(DefaultSampler):
    """Draws each image in proportion to its repeat factor, see :func:`repeat_factors`.

    An epoch has as many images as the set. MMEngine's ``ClassBalancedDataset`` has the same factors
    but rounds each up, so that 1.01 doubles an image and epochs grow. Here an image comes as often
    as its share of the epoch asks for on average, rounded up or down anew in every epoch (see
    :func:`draw_by_weight`); the images of common classes are left out of some epochs for it.

    The list of an epoch depends on the seed and the epoch alone; each rank takes its part of it.

    Args:
        dataset: The training set, see
            :func:`~mmshufflemix.datasets.training_labels.training_labels`; one or several labels
            an image.
        oversample_thr: Share of the images, above 0 to 1; classes that are rarer are favoured.
        seed: The same on every rank; by default the run's.
        round_up: Pad the last round, so that every rank gets the same number of images.

    Raises:
        ValueError: If the threshold is out of range.
    """

    def __init__(
        self,
        dataset: Sized,
        oversample_thr: float,
        seed: int | None = None,
        round_up: bool = True,
    ) -> None:
        super().__init__(dataset, shuffle=True, seed=seed, round_up=round_up)
        self.factors = torch.from_numpy(repeat_factors(training_labels(dataset), oversample_thr))

    def __iter__(self) -> Iterator[int]:
        """Iterate over the indices of this rank."""
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        drawn = draw_by_weight(self.factors, len(self.dataset), generator).tolist()
        padded = islice(cycle(drawn), self.total_size)
        return islice(padded, self.rank, None, self.world_size)


def repeat_factors(labels: Iterable[Sequence[int]], oversample_thr: float) -> np.ndarray:
    """Return how much more often each image should be seen than one of common classes.

    A class in the share f of the images has the factor max(1, sqrt(t / f)), an image that of its
    rarest class, an image without labels 1 (LVIS, arXiv 1908.03195).

    Args:
        labels: Distinct class ids of each image.
        oversample_thr: t, above 0 to 1.

    Returns:
        Factors (N,) of at least 1, float64.

    Raises:
        ValueError: If t is out of range.
    """
    if not 0 < oversample_thr <= 1:
        raise ValueError(
            f'oversample_thr is a share of the images, above 0 to 1, got {oversample_thr!r}'
        )
    listed = list(labels)
    counts = np.bincount(np.array(list(chain.from_iterable(listed)), dtype=np.int64))
    of_class = np.maximum(1, np.sqrt(oversample_thr * len(listed) / np.maximum(counts, 1)))
    return np.array([of_class[list(ids)].max() if len(ids) else 1.0 for ids in listed])


def draw_by_weight(weights: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Draw indices in proportion to their weights, with as little chance as possible.

    Systematic sampling: an index with the expected number e = count * weight / sum of draws is
    drawn floor(e) or ceil(e) times, and e times on average. The result is in random order.

    Args:
        weights: Positive weights (N,).
        count: Number of draws.
        generator: Source of the randomness.

    Returns:
        Indices (count,), int64.
    """
    order = torch.randperm(len(weights), generator=generator)
    ends = weights[order].double().cumsum(0)
    ends *= count / ends[-1]
    start = torch.rand(1, generator=generator, dtype=torch.float64)
    points = start + torch.arange(count, dtype=torch.float64)
    # Rounding may put the last end just below the last point.
    found = torch.searchsorted(ends, points, right=True).clamp(max=len(weights) - 1)
    return order[found][torch.randperm(count, generator=generator)]
