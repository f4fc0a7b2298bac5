"""The training crop of the multi-label experiments."""

from __future__ import annotations

import math
from collections.abc import Sequence

import mmcv
import torch
from mmcv.transforms import BaseTransform
from mmpretrain.registry import TRANSFORMS

__all__ = ['MultiScaleCrop', 'crop_offsets', 'crop_sizes']

# (row, column) in quarters of the free space: corners, edge middles, centre, quarter points.
_QUARTERS = (
    *((0, 0), (0, 4), (4, 0), (4, 4)),
    *((0, 2), (2, 0), (2, 4), (4, 2)),
    (2, 2),
    *((1, 1), (1, 3), (3, 1), (3, 3)),
)


@TRANSFORMS.register_module()
class MultiScaleCrop(BaseTransform):
    """Crop at a random scale, aspect and one of 13 places, then resize to a square.

    Size and place are drawn uniformly from :func:`crop_sizes` and :func:`crop_offsets` with
    PyTorch's global generator, which is seeded in every loader worker. Reads ``img`` (H, W, C),
    sets ``img`` (size, size, C) and ``img_shape``. As in ML-GCN (CVPR 2019).

    Args:
        size: Side of the result in pixels.
        scales: Crop sides as fractions of the image's short side, each in (0, 1].
        max_distort: How many places of ``scales`` height and width may lie apart.

    Raises:
        ValueError: If an argument is out of range.
    """

    def __init__(
        self,
        size: int = 448,
        scales: Sequence[float] = (1, 0.875, 0.75, 0.66, 0.5),
        max_distort: int = 2,
    ) -> None:
        if size < 1:
            raise ValueError(f'size must be at least 1 pixel, got {size}')
        if not scales or not all(0 < scale <= 1 for scale in scales):
            raise ValueError(f'scales must be fractions in (0, 1], at least one, got {scales}')
        if max_distort < 0:
            raise ValueError(f'max_distort must be at least 0, got {max_distort}')
        self.size = size
        self.scales = tuple(scales)
        self.max_distort = max_distort

    def transform(self, results: dict) -> dict:
        """Crop and resize ``results['img']``."""
        image = results['img']
        height, width = image.shape[:2]
        crop_h, crop_w = _draw(crop_sizes(height, width, self.scales, self.max_distort))
        top, left = _draw(crop_offsets(height, width, crop_h, crop_w))
        crop = image[top : top + crop_h, left : left + crop_w]
        # OpenCV drops a channel axis of length one.
        resized = mmcv.imresize(crop, (self.size, self.size))
        results['img'] = resized.reshape(self.size, self.size, *image.shape[2:])
        results['img_shape'] = (self.size, self.size)
        return results

    def __repr__(self) -> str:
        """Describe the transform with its arguments."""
        return (
            f'{type(self).__name__}(size={self.size}, scales={self.scales}, '
            f'max_distort={self.max_distort})'
        )


def crop_sizes(
    height: int, width: int, scales: Sequence[float], max_distort: int
) -> list[tuple[int, int]]:
    """List the (height, width) of all allowed crops of an image.

    Sides are the scales of the short side, rounded down, at least one pixel; height and width are
    at most ``max_distort`` places of ``scales`` apart.
    """
    sides = [max(1, math.floor(min(height, width) * scale)) for scale in scales]
    return [
        (crop_h, crop_w)
        for i, crop_h in enumerate(sides)
        for j, crop_w in enumerate(sides)
        if abs(i - j) <= max_distort
    ]


def crop_offsets(height: int, width: int, crop_h: int, crop_w: int) -> list[tuple[int, int]]:
    """List the (top, left) of the 13 places of a crop.

    The corners, the edge middles, the centre, and the points a quarter of the free space away from
    two edges.
    """
    free_h, free_w = height - crop_h, width - crop_w
    return [(free_h * row // 4, free_w * column // 4) for row, column in _QUARTERS]


def _draw(choices: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return choices[int(torch.randint(len(choices), ()))]
