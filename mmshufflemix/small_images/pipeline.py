"""Which transforms of an ordinary pipeline are done once, and which on whole batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mmcv
import numpy as np
from mmcv.transforms import CenterCrop, LoadImageFromFile, Pad, RandomFlip, Resize
from mmpretrain.datasets.transforms import PackInputs, RandomCrop, ResizeEdge

from mmshufflemix.small_images.views import CropStep, FlipStep, Step

__all__ = ['SplitPipeline', 'make_steps', 'split_pipeline']

_ONCE = (LoadImageFromFile, Resize, ResizeEdge, CenterCrop, Pad)
_RANDOM = (RandomCrop, RandomFlip)
_SUPPORTED = (
    f'{", ".join(kind.__name__ for kind in _ONCE)} at the start, then '
    f'{" and ".join(kind.__name__ for kind in _RANDOM)} in any order, then PackInputs'
)


@dataclass(frozen=True)
class SplitPipeline:
    """A pipeline in three parts.

    Attributes:
        once: Transforms without randomness, done when an image is read.
        random: Random ones, done on batches.
        meta_keys: Meta information that ``PackInputs`` keeps.
    """

    once: tuple[Any, ...]
    random: tuple[Any, ...]
    meta_keys: tuple[str, ...]


def split_pipeline(transforms: Sequence[Any]) -> SplitPipeline:
    """Split the transforms of a dataset.

    Raises:
        ValueError: If one of them cannot be done once or on batches, or ``PackInputs`` is not last.
    """
    if not transforms or type(transforms[-1]) is not PackInputs:
        raise ValueError(
            'the fast path for small images needs a pipeline that ends with PackInputs, got '
            f'{[type(transform).__name__ for transform in transforms]}'
        )
    *body, pack = transforms
    if pack.input_key != 'img' or pack.algorithm_keys:
        raise ValueError(
            'the fast path for small images packs img and gt_label only, and PackInputs has '
            f'input_key={pack.input_key!r}, algorithm_keys={tuple(pack.algorithm_keys)}; leave '
            'them out, or runner_type'
        )
    first_random = next((i for i, t in enumerate(body) if type(t) in _RANDOM), len(body))
    once, random = body[:first_random], body[first_random:]
    for transform in once:
        if type(transform) not in _ONCE:
            raise _unsupported(transform)
    for transform in random:
        if type(transform) not in _RANDOM:
            raise _unsupported(transform)
    return SplitPipeline(tuple(once), tuple(random), tuple(pack.meta_keys))


def make_steps(random: Sequence[Any], shape: tuple[int, ...]) -> list[Step]:
    """Make batch steps of random transforms.

    Args:
        random: ``RandomCrop`` and ``RandomFlip`` objects.
        shape: Shape of the images they get, (H, W, C) or (H, W).

    Raises:
        ValueError: If one of them is used in a way that is not supported.
    """
    steps: list[Step] = []
    for transform in random:
        if isinstance(transform, RandomFlip):
            steps.append(_flip_step(transform))
        else:
            crop = _crop_step(transform, shape)
            shape = crop.shape
            steps.append(crop)
    return steps


def _flip_step(transform: RandomFlip) -> FlipStep:
    if not isinstance(transform.prob, float) or transform.direction not in (
        'horizontal',
        'vertical',
    ):
        raise ValueError(
            'the fast path for small images knows RandomFlip with one probability and direction '
            f"'horizontal' or 'vertical', got prob={transform.prob}, "
            f'direction={transform.direction!r}; write several RandomFlip, or leave runner_type out'
        )
    return FlipStep(transform.prob, transform.direction)


def _crop_step(transform: RandomCrop, shape: tuple[int, ...]) -> CropStep:
    rows, columns = (int(side) for side in transform.crop_size)
    left, top, right, bottom = padding = _four_sides(transform.padding)
    room = (shape[0] + top + bottom - rows, shape[1] + left + right - columns)
    if min(room) < 0:
        raise ValueError(
            f'the fast path for small images needs crops that fit, got crop_size={rows, columns} '
            f'of {shape[0]} x {shape[1]} pixels with padding={transform.padding}; give RandomCrop '
            'more padding'
        )
    padded = _padded_pixel(transform.pad_val, shape)
    # Padding leaves no axis for a single channel, also where nothing is added.
    pads = transform.padding is not None or transform.pad_if_needed
    channels = padded.shape if pads else shape[2:]
    fill = tuple(padded.ravel().tolist())
    return CropStep((rows, columns), room, padding, fill, (rows, columns, *channels))


def _four_sides(padding: Any) -> tuple[int, int, int, int]:
    """Left, top, right and bottom."""
    if padding is None:
        return (0, 0, 0, 0)
    if isinstance(padding, int):
        return (padding, padding, padding, padding)
    horizontal, vertical, *rest = (int(side) for side in padding)
    right, bottom = rest or (horizontal, vertical)
    return (horizontal, vertical, right, bottom)


def _padded_pixel(pad_val: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Ask MMCV, which gives a single number to the first channel only."""
    pixel = np.zeros((1, 1, *shape[2:]), np.uint8)
    return mmcv.impad(pixel, padding=(1, 0, 0, 0), pad_val=pad_val)[0, 0]


def _unsupported(transform: Any) -> ValueError:
    return ValueError(
        f'the fast path for small images cannot do {type(transform).__name__} where it stands; '
        f'it knows {_SUPPORTED}. Change the pipeline, or leave runner_type out'
    )
