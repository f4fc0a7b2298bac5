"""What other ways to resize a crop would save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mmshufflemix.benchmark.decode import (
    PreparationCost,
    difference,
    require_installed,
    summarise_differences,
)
from mmshufflemix.benchmark.decoders import BASE, Resize, list_decoders, list_resizers
from mmshufflemix.benchmark.paired import time_pairs
from mmshufflemix.datasets.multi_scale_crop import MultiScaleCrop

__all__ = ['measure_resizer']


def measure_resizer(
    pictures: Sequence[bytes],
    name: str,
    cost: PreparationCost,
    report: Callable[[int], object] = lambda done: None,
) -> dict[str, Any]:
    """Compare a bilinear resize with OpenCV's, on crops of the middle one of the scales.

    Args:
        pictures: JPEG files.
        name: One of :func:`~mmshufflemix.benchmark.decoders.list_resizers`, installed.
        cost: Side of the result and number of pairs.
        report: Called with the number of pairs after each.

    Returns:
        The summary of the times (``resize``), ratios being new by old, and ``max``, ``mean`` and
        ``p99`` of the absolute differences in grey levels.
    """
    resizers = list_resizers()
    decode = require_installed(list_decoders(cost.least_side), BASE)
    base, other = require_installed(resizers, BASE), require_installed(resizers, name)
    scale = MultiScaleCrop(cost.size).scales[2]

    def crop(number: int) -> np.ndarray:
        image = decode(pictures[number % len(pictures)])
        side = int(min(image.shape[:2]) * scale)
        return image[:side, :side]

    def run(resize: Resize) -> Callable[[np.ndarray], np.ndarray]:
        return lambda image: resize(image, cost.size)

    times = time_pairs(run(base), run(other), crop, cost.pairs, report=report)
    crops = (crop(number) for number in range(min(len(pictures), cost.pairs)))
    gaps = [difference(run(other)(part), run(base)(part)) for part in crops]
    return {'resize': times.summary(), **summarise_differences(gaps)}
