"""Synthetic points in the plane: noisy rings around one centre, one ring a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from sklearn.datasets import make_circles
from sklearn.utils import check_random_state
from torch import Tensor

__all__ = ['PointSet', 'best_accuracy', 'check_rings', 'draw_rings', 'ring_radii']

_FEWEST_CLASSES = 2
_MOST_NOISE = 10.0


@dataclass(frozen=True)
class PointSet:
    """Labelled points.

    Attributes:
        points: Coordinates (N, 2), float32.
        labels: Class of each (N,), int64; 0 is the outermost ring.
        num_classes: K.
    """

    points: Tensor
    labels: Tensor
    num_classes: int


def ring_radii(num_classes: int) -> list[float]:
    """Radii of the rings of K classes, equally spaced: 1, (K - 1) / K, ..., 1 / K."""
    return [(num_classes - label) / num_classes for label in range(num_classes)]


def check_rings(per_class: int, noise: float) -> None:
    """Check what rings of any number of classes are drawn with, see :func:`draw_rings`.

    Raises:
        ValueError: If an argument is out of range.
    """
    if per_class < 1:
        raise ValueError(f'each class needs at least 1 point, got {per_class}')
    if not 0 <= noise <= _MOST_NOISE:
        raise ValueError(f'noise must lie in [0, {_MOST_NOISE:g}], got {noise:g}')


def draw_rings(num_classes: int, per_class: int, noise: float, seed: int) -> PointSet:
    """Draw the same number of points on each ring, by scikit-learn's ``make_circles``.

    With two classes it is that function's own set of factor 0.5.

    Args:
        num_classes: K, at least 2.
        per_class: Points on each ring, at least 1.
        noise: Standard deviation of the Gaussian noise on both coordinates, in [0, 10].
        seed: Seed of the noise, in [0, 2^32).

    Raises:
        ValueError: If an argument is out of range.
    """
    if num_classes < _FEWEST_CLASSES:
        raise ValueError(f'rings need at least {_FEWEST_CLASSES} classes, got {num_classes}')
    check_rings(per_class, noise)
    if not 0 <= seed < 2**32:
        raise ValueError(f'a seed of points must lie in [0, 2^32), got {seed}')
    random = check_random_state(seed)
    _, second, *inner = ring_radii(num_classes)
    # It makes two circles, and only the inner one can have any radius.
    calls = [((per_class, per_class), second)] + [((0, per_class), radius) for radius in inner]
    rings = [
        make_circles(sizes, shuffle=False, noise=noise, factor=radius, random_state=random)[0]
        for sizes, radius in calls
    ]
    return PointSet(
        torch.from_numpy(np.concatenate(rings)).float(),
        torch.arange(num_classes).repeat_interleave(per_class),
        num_classes,
    )


def best_accuracy(points: PointSet, noise: float) -> float:
    """Accuracy in percent of the classifier that knows how the points were drawn.

    It chooses the ring of the largest density. A ring of radius r with noise s has at distance d
    from the centre a density proportional to exp(-(d^2 + r^2) / 2s^2) I0(d r / s^2).

    Args:
        points: The points to classify.
        noise: Standard deviation s that they were drawn with.
    """
    distance = points.points.double().norm(dim=1, keepdim=True)
    radii = torch.tensor(ring_radii(points.num_classes), dtype=torch.float64)
    score = -((distance - radii) ** 2)
    if noise > 0:
        # I0 by itself would overflow; i0e(z) = exp(-z) I0(z).
        score = score / (2 * noise**2) + torch.special.i0e(distance * radii / noise**2).log()
    return 100 * (score.argmax(dim=1) == points.labels).double().mean().item()
