"""Crops and flips of a whole batch, with the randomness passed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from mmshufflemix._device import send

__all__ = ['CropStep', 'FlipStep', 'Step', 'View', 'crop_batch', 'flip_batch']


class Step(Protocol):
    """A random transform of a batch: what it draws, what it does, and what it tells about it."""

    def draw(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        """Draw for ``count`` images, on the CPU."""

    def apply(self, images: Tensor, draws: Tensor) -> Tensor:
        """Transform images (N, C, H, W) of any device; they are not written."""

    def meta(self, draws: Tensor) -> dict[str, Any]:
        """Meta information as the ordinary transform leaves it: a list has one value an image."""


@dataclass(frozen=True)
class View:
    """A step together with what was drawn for a batch."""

    step: Step
    draws: Tensor

    def apply(self, images: Tensor) -> Tensor:
        """Transform images (N, C, H, W)."""
        return self.step.apply(images, self.draws)


def crop_batch(
    images: Tensor,
    offsets: Tensor,
    size: tuple[int, int],
    padding: tuple[int, int, int, int] = (0, 0, 0, 0),
    fill: Sequence[float] = (0,),
) -> Tensor:
    """Pad all images, then cut a window of one size out of each.

    Args:
        images: Images (N, C, H, W) of any type.
        offsets: Integers (N, 2), top and left of each window in the padded image.
        size: Height and width of the windows.
        padding: Pixels added on the left, top, right and bottom.
        fill: Value of these pixels in each channel, or one for all.

    Returns:
        The windows (N, C, *size), a new tensor.
    """
    padded = _pad(images, padding, fill)
    count, channels, height, width = padded.shape
    rows, columns = size
    # Every row of a window is a run of the padded memory. Seen as overlapping runs from each of its
    # elements, that memory gives all rows by one copy of contiguous pieces.
    runs = padded.view(-1).as_strided((padded.numel() - columns + 1, columns), (1, 1))
    offsets = send(offsets, images.device)
    planes = torch.arange(count * channels, device=images.device).view(count, channels)
    corners = planes * (height * width) + (offsets[:, :1] * width + offsets[:, 1:])
    starts = corners.unsqueeze(2) + torch.arange(rows, device=images.device) * width
    return runs.index_select(0, starts.view(-1)).view(count, channels, rows, columns)


def flip_batch(images: Tensor, flips: Tensor, axis: int) -> Tensor:
    """Mirror some images.

    Args:
        images: Images (N, C, H, W).
        flips: Which of them (N,), booleans.
        axis: 3 exchanges left and right, 2 top and bottom.

    Returns:
        All images, a new tensor.
    """
    count = len(images)
    flips = send(flips, images.device)
    chosen = torch.arange(count, device=images.device) + count * flips
    return torch.cat([images, images.flip(axis)]).index_select(0, chosen)


@dataclass(frozen=True)
class CropStep:
    """Random crops, as MMPretrain's ``RandomCrop`` makes them of images of one size.

    Attributes:
        size: Height and width of the crops.
        room: Largest offset from the top and from the left.
        padding: Pixels added on the left, top, right and bottom.
        fill: Value of these pixels in each channel.
        shape: What ``img_shape`` says of a crop.
    """

    size: tuple[int, int]
    room: tuple[int, int]
    padding: tuple[int, int, int, int]
    fill: tuple[float, ...]
    shape: tuple[int, ...]

    def draw(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        """Draw top and left of each crop (N, 2), each uniformly from 0 to the room for it."""
        sides = [torch.randint(room + 1, (count,), generator=generator) for room in self.room]
        return torch.stack(sides, dim=1)

    def apply(self, images: Tensor, draws: Tensor) -> Tensor:
        """Pad and crop, see :func:`crop_batch`."""
        return crop_batch(images, draws, self.size, self.padding, self.fill)

    def meta(self, draws: Tensor) -> dict[str, Any]:
        """Return the shape of the crops."""
        return {'img_shape': self.shape}


@dataclass(frozen=True)
class FlipStep:
    """Random flips in one direction, as MMCV's ``RandomFlip`` makes them.

    Attributes:
        probability: Of a flip, 0 to 1.
        direction: ``'horizontal'`` or ``'vertical'``.
    """

    probability: float
    direction: str

    def draw(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        """Draw which images are flipped (N,)."""
        return torch.rand(count, generator=generator) < self.probability

    def apply(self, images: Tensor, draws: Tensor) -> Tensor:
        """Flip, see :func:`flip_batch`."""
        return flip_batch(images, draws, 3 if self.direction == 'horizontal' else 2)

    def meta(self, draws: Tensor) -> dict[str, Any]:
        """Return which images were flipped, and how."""
        flips = draws.tolist()
        return {
            'flip': flips,
            'flip_direction': [self.direction if flip else None for flip in flips],
        }


def _pad(images: Tensor, padding: tuple[int, int, int, int], fill: Sequence[float]) -> Tensor:
    if not any(padding):
        return images.contiguous()
    left, top, right, bottom = padding
    count, channels, height, width = images.shape
    shape = (count, channels, top + height + bottom, left + width + right)
    padded = images.new_empty(shape)
    if len(set(fill)) == 1:
        padded.fill_(fill[0])
    else:
        padded.copy_(torch.tensor(fill, device=images.device).view(-1, 1, 1))
    padded[:, :, top : top + height, left : left + width] = images
    return padded
