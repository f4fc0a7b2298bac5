"""Where in a picture the network's input lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from mmshufflemix.export.pipeline import resize_rule
from mmshufflemix.inference.build import is_loader

__all__ = ['Placement', 'find_placement', 'place_map']


@dataclass(frozen=True)
class Placement:
    """The part of a picture that the network sees, as fractions of its height and width.

    Attributes:
        box: Top, left, bottom and right.
        unknown: What in the pipeline leaves the place unknown, empty if it is known. The box is
            then all of the network's input picture.
    """

    box: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)
    unknown: tuple[str, ...] = ()


def find_placement(
    pipeline: Sequence[dict[str, Any]], picture: tuple[int, int], size: tuple[int, int]
) -> Placement:
    """Follow a picture through ``Resize``, or ``ResizeEdge`` and ``CenterCrop``.

    Args:
        pipeline: Configs of the test pipeline's transforms.
        picture: Height and width before them.
        size: Height and width after them.
    """
    steps = [step for step in pipeline if not is_loader(step)]
    rule = resize_rule(steps)
    # The filter moves nothing.
    unknown = [name for name in rule.unknown if not name.startswith('interpolation')]
    resizing = [str(step['type']) for step in steps if 'Resize' in str(step['type'])]
    if len(resizing) > 1:
        unknown.append('several transforms that resize')
    if unknown or rule.edge is None:
        return Placement(unknown=tuple(unknown))
    edge, (height, width) = rule.edge, picture
    resized = (
        (int(edge * height / width), edge) if width < height else (edge, int(edge * width / height))
    )
    start = [max(0, round((full - part) / 2)) for full, part in zip(resized, size, strict=True)]
    if size[0] > resized[0] or size[1] > resized[1]:
        return Placement(unknown=('a crop larger than the picture',))
    top, left = start[0] / resized[0], start[1] / resized[1]
    return Placement((top, left, top + size[0] / resized[0], left + size[1] / resized[1]))


def place_map(
    heat: np.ndarray, box: tuple[float, float, float, float], size: tuple[int, int]
) -> np.ndarray:
    """Stretch a map over its part of a picture; the rest is 0.

    Args:
        heat: Map (h, w) of floats.
        box: Top, left, bottom and right of its part, as fractions.
        size: Height and width of the result.
    """
    axes = zip(heat.shape, size, box[:2], box[2:], strict=True)
    # Position in the map of pixel i of the picture: scale * i + shift, by the centres of pixels.
    (scale_y, shift_y, seen_y), (scale_x, shift_x, seen_x) = (_axis(*values) for values in axes)
    matrix = np.array([[scale_x, 0, shift_x], [0, scale_y, shift_y]])
    placed = cv2.warpAffine(
        heat.astype(np.float32),
        matrix,
        (size[1], size[0]),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return np.where(np.outer(seen_y, seen_x), placed, np.float32(0))


def _axis(length: int, full: int, start: float, end: float) -> tuple[float, float, np.ndarray]:
    centres = (np.arange(full) + 0.5) / full
    scale = length / (full * (end - start))
    shift = (0.5 / full - start) / (end - start) * length - 0.5
    return scale, shift, (centres >= start) & (centres <= end)
