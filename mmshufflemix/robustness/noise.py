"""Noise on normalised images, as pure functions of a batch and a draw.

What is random is drawn apart from how strong it is: one draw serves every level, so that levels and
modes are compared on the same noise. A draw of a batch takes the same numbers from a CPU generator
as draws of its parts in turn: the noise of a data set does not depend on the batch size. It is made
where the generator lives and then moved, so that a CPU generator gives the same noise on any
device.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = [
    'MODES',
    'NOISES',
    'add_salt_pepper',
    'add_white_noise',
    'apply_salt_pepper',
    'apply_white_noise',
    'check_level',
    'draw_salt_pepper',
    'draw_white_noise',
    'salt_pepper_count',
]

NOISES = ('white', 'salt_pepper')
MODES = ('paper', 'all')
"""Channels that salt and pepper falls on: the first, as in the authors' code, or all."""

# PyTorch draws normal numbers in groups of this many, and any others differently.
_GROUP = 16


def add_white_noise(x: Tensor, level: float, generator: torch.Generator) -> Tensor:
    """Add ``level * N(0, 1)`` to every value.

    Args:
        x: Normalised images (N, C, H, W), not changed.
        level: Standard deviation, at least 0.
        generator: Source of the draw.

    Raises:
        ValueError: If the level is out of range or ``x`` has another number of axes.
    """
    return apply_white_noise(x, draw_white_noise(x, generator), level)


def draw_white_noise(x: Tensor, generator: torch.Generator) -> Tensor:
    """Draw N(0, 1) for every value of a batch, in its shape, type and device."""
    _check_shape(x)
    size = x[0].numel()
    padded = math.ceil(size / _GROUP) * _GROUP
    draw = torch.randn(len(x), padded, generator=generator, device=generator.device)
    return draw[:, :size].reshape(x.shape).to(x)


def apply_white_noise(x: Tensor, draw: Tensor, level: float) -> Tensor:
    """Return ``x + level * draw``."""
    check_level('white', level)
    return torch.add(x, draw, alpha=level)


def add_salt_pepper(
    x: Tensor, level: float, generator: torch.Generator, mode: str = 'paper'
) -> Tensor:
    """Set randomly chosen pixels to the least, others to the greatest value of their channel.

    Of each image and channel, :func:`salt_pepper_count` positions get the minimum over this image
    and channel; then as many, drawn independently of them, get the maximum of what is there now.
    A position in both sets ends as a maximum, and a maximum that was overwritten does not come
    back. The positions are the same in all channels of an image.

    Args:
        x: Normalised images (N, C, H, W), not changed.
        level: Share of the pixels, 0 to 1: a half for each of the two values.
        generator: Source of the draw.
        mode: One of :data:`MODES`.

    Raises:
        ValueError: If level or mode are not as above or ``x`` has another number of axes.
    """
    return apply_salt_pepper(x, draw_salt_pepper(x, generator), level, mode)


def draw_salt_pepper(x: Tensor, generator: torch.Generator) -> Tensor:
    """Draw a key for each position and set (N, 2, H * W): the least keys are the chosen positions.

    The positions of a level are thereby among those of every higher level.
    """
    _check_shape(x)
    shape = (len(x), 2, x[0, 0].numel())
    # Single precision would draw equal keys now and then.
    keys = torch.rand(shape, dtype=torch.float64, generator=generator, device=generator.device)
    return keys.to(x.device)


def apply_salt_pepper(x: Tensor, draw: Tensor, level: float, mode: str = 'paper') -> Tensor:
    """Write minima and maxima to the positions with the least keys, see :func:`add_salt_pepper`."""
    check_level('salt_pepper', level)
    if mode not in MODES:
        raise ValueError(f'mode of salt and pepper must be one of {MODES}, got {mode!r}')
    count = salt_pepper_count(level, draw.shape[-1])
    noisy = x.clone()
    if count == 0:
        return noisy
    chosen = torch.zeros_like(draw, dtype=torch.bool)
    chosen.scatter_(2, draw.topk(count, dim=2, largest=False).indices, True)
    low, high = chosen.unflatten(2, x.shape[2:]).split(1, dim=1)
    channels = x[:, :1] if mode == 'paper' else x
    channels = torch.where(low, channels.amin((2, 3), keepdim=True), channels)
    channels = torch.where(high, channels.amax((2, 3), keepdim=True), channels)
    noisy[:, : channels.shape[1]] = channels
    return noisy


def salt_pepper_count(level: float, positions: int) -> int:
    """Positions of one set, ``ceil(level * positions / 2)``, free of binary rounding."""
    return math.ceil(round(level * positions / 2, 9))


def check_level(noise: str, level: float) -> None:
    """Check a noise level.

    Raises:
        ValueError: If the noise is unknown, or the level negative, not finite or, for salt and
            pepper, above 1.
    """
    if noise not in NOISES:
        raise ValueError(f'noise must be one of {NOISES}, got {noise!r}')
    limit = math.inf if noise == 'white' else 1
    if not (0 <= level <= limit and math.isfinite(level)):
        span = 'at least 0' if noise == 'white' else 'from 0 to 1'
        raise ValueError(f'the level of {noise} noise must be {span}, got {level}')


def _check_shape(x: Tensor) -> None:
    if x.ndim != 4:
        raise ValueError(
            f'noise is defined for images (N, C, H, W), and the model gets {tuple(x.shape)}; use a '
            'test pipeline that gives one picture of one size for each sample'
        )
