"""Canvases of handwritten digits: a small multi-label task drawn from scikit-learn's digits.

The source is ``sklearn.datasets.load_digits``, 1,797 images of 8 x 8 pixels that ship with
scikit-learn, so nothing is downloaded. A canvas carries two to four of them on a cluttered
background. Everything here is pure: all randomness comes from the generator passed in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFilter
from sklearn.datasets import load_digits

__all__ = [
    'CLASSES',
    'COMPANION_RATE',
    'PlacedDigit',
    'draw_canvas',
    'draw_labels',
    'split_digits',
]

CLASSES = ('zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine')
COMPANION_RATE = 0.6
_DIFFICULT_RATE = 0.08
_SIZES = (18, 28)
_ATTEMPTS = 40

Digits = list[np.ndarray]
"""Per class, a uint8 array (n, 8, 8) with values 0..16."""


@dataclass(frozen=True)
class PlacedDigit:
    """One digit on a canvas.

    Attributes:
        label: Class index, 0..9.
        box: Left, top, right, bottom of the visible ink in pixels, the last two exclusive.
        difficult: The digit is so faint, or so far out of the picture, that even a person may
            miss it.
        truncated: Part of the digit lies outside the canvas.
    """

    label: int
    box: tuple[int, int, int, int]
    difficult: bool
    truncated: bool


def split_digits(rng: np.random.Generator, test_fraction: float = 0.3) -> tuple[Digits, Digits]:
    """Split the 1,797 source digits, class by class, into disjoint training and test parts."""
    source = load_digits()
    images = source.images.astype(np.uint8)
    train, test = [], []
    for label in range(len(CLASSES)):
        indices = rng.permutation(np.flatnonzero(source.target == label))
        cut = round(len(indices) * test_fraction)
        test.append(images[np.sort(indices[:cut])])
        train.append(images[np.sort(indices[cut:])])
    return train, test


def draw_labels(rng: np.random.Generator) -> list[int]:
    """Draw the class indices of one canvas: two to four, repeats allowed.

    Digits come in couples (0, 1), (2, 3), ... (8, 9). The first digit is uniform; each further
    one is the companion of the first with probability ``COMPANION_RATE`` and uniform otherwise.
    Given a class, its companion is then on the canvas in about seven of ten cases and any other
    class in less than two, so the label graph at the usual threshold 0.4 links each couple.
    """
    first = int(rng.integers(len(CLASSES)))
    labels = [first]
    for _ in range(int(rng.integers(1, 4))):
        together = rng.random() < COMPANION_RATE
        labels.append(first ^ 1 if together else int(rng.integers(len(CLASSES))))
    return labels


def draw_canvas(
    digits: Digits, labels: list[int], rng: np.random.Generator, size: int = 64
) -> tuple[np.ndarray, list[PlacedDigit]]:
    """Draw digits of the given classes, not overlapping, on a cluttered background.

    A digit that finds no free place is left out; the first one always does. About one in twelve
    is difficult: either faint, or with more than half of it cut off by the border.

    Returns:
        The canvas, uint8 (size, size, 3), and the digits on it.
    """
    canvas = _background(rng, size)
    placed: list[PlacedDigit] = []
    for label in labels:
        pixels = digits[label][rng.integers(len(digits[label]))]
        mask = _enlarge(pixels, int(rng.integers(_SIZES[0], _SIZES[1] + 1)), rng.uniform(-10, 10))
        cut, faint = (rng.random(2) < _DIFFICULT_RATE / 2).tolist()
        layer, box = _place(mask, [digit.box for digit in placed], cut, rng, size)
        if box is None:
            continue
        ink = _ink(canvas, layer, faint, rng)
        canvas += layer[..., None] * (ink - canvas)
        placed.append(PlacedDigit(label, box, difficult=cut or faint, truncated=cut))
    canvas += rng.normal(0, 8, canvas.shape)
    return canvas.round().clip(0, 255).astype(np.uint8), placed


def _background(rng: np.random.Generator, size: int) -> np.ndarray:
    """A coloured gradient under blurred strokes that resemble ink, float (size, size, 3)."""
    corners = rng.uniform(40, 120) + rng.uniform(-40, 40, (2, 2, 3))
    image = Image.fromarray(corners.clip(0, 255).astype(np.uint8))
    image = image.resize((size, size), Image.Resampling.BILINEAR)
    draw = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(2, 6))):
        start = rng.integers(0, size, 2)
        stop = start + rng.integers(-size // 4, size // 4 + 1, 2)
        colour = tuple(int(value) for value in rng.integers(0, 256, 3))
        draw.line([*start.tolist(), *stop.tolist()], fill=colour, width=int(rng.integers(1, 4)))
    return np.asarray(image.filter(ImageFilter.GaussianBlur(0.8)), dtype=np.float64)


def _enlarge(pixels: np.ndarray, side: int, angle: float) -> np.ndarray:
    """Scale an 8 x 8 digit to opacities in 0..1, turned by an angle in degrees, cropped to ink."""
    image = Image.fromarray(np.minimum(pixels.astype(np.uint16) * 16, 255).astype(np.uint8))
    image = image.resize((side, side), Image.Resampling.BICUBIC)
    image = image.rotate(angle, Image.Resampling.BICUBIC, expand=True)
    mask = np.asarray(image, dtype=np.float64) / 255
    rows, columns = np.nonzero(mask > 0.3)
    return mask[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]


def _place(
    mask: np.ndarray,
    taken: list[tuple[int, int, int, int]],
    cut: bool,
    rng: np.random.Generator,
    size: int,
) -> tuple[np.ndarray, tuple[int, int, int, int] | None]:
    """Put a mask on an empty layer (size, size) at a place that touches no taken box."""
    layer = np.zeros((size, size))
    height, width = mask.shape
    for _ in range(_ATTEMPTS):
        top = int(rng.integers(0, size - height + 1))
        left = int(rng.integers(0, size - width + 1))
        if cut:
            left = int(rng.choice([-round(0.6 * width), size - round(0.4 * width)]))
        box = (max(left, 0), top, min(left + width, size), top + height)
        if any(_touch(box, other) for other in taken):
            continue
        layer[box[1] : box[3], box[0] : box[2]] = mask[:, box[0] - left : box[2] - left]
        return layer, box
    return layer, None


def _touch(box: tuple[int, ...], other: tuple[int, ...]) -> bool:
    apart = box[2] <= other[0] or other[2] <= box[0] or box[3] <= other[1] or other[3] <= box[1]
    return not apart


def _ink(
    canvas: np.ndarray, layer: np.ndarray, faint: bool, rng: np.random.Generator
) -> np.ndarray:
    """A colour lighter than what the digit covers, hardly so when faint."""
    under = canvas[layer > 0.3].mean(axis=0)
    contrast = rng.uniform(12, 20) if faint else rng.uniform(80, 140) + rng.uniform(-20, 20, 3)
    return (under + contrast).clip(0, 255)
