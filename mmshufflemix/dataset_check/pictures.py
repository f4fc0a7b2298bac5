"""Decode a picture and note what training or a reader may stumble over."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from PIL import Image, UnidentifiedImageError

__all__ = ['SMALL', 'Picture', 'inspect_picture', 'picture_oddities']

SMALL = (9, 8)
"""Width and height of the small copy that pictures are compared by."""

_ORIENTATION = 0x0112
_TINY_SIDE = 32
_HUGE_PIXELS = 40_000_000
_EXTREME_RATIO = 4.0


@dataclass(frozen=True)
class Picture:
    """What is known of a picture after it has been decoded as a whole.

    Attributes:
        fault: Why it cannot be used, or None.
        missing: Whether the fault is that there is no such file.
        width: In pixels, as stored.
        height: In pixels, as stored.
        mode: Pillow's name of the channels, such as ``'RGB'``.
        digest: SHA-256 of mode, size and decoded pixels.
        small: A copy of 8 x 9 pixels, uint8 RGB.
        flat: All pixels are equal.
        transparent: There is an alpha channel or a transparent colour.
        orientation: EXIF orientation, 1 where there is none.
        frames: Their number.
    """

    fault: str | None = None
    missing: bool = False
    width: int = 0
    height: int = 0
    mode: str = ''
    digest: str = ''
    small: np.ndarray | None = None
    flat: bool = False
    transparent: bool = False
    orientation: int = 1
    frames: int = 1


def inspect_picture(source: str | np.ndarray | None) -> Picture:
    """Decode a file, or take pixels (H, W, 3), and describe the picture.

    Files are decoded at full size, since only that finds those that were cut off.
    """
    if source is None:
        return Picture(fault='it has no file', missing=True)
    try:
        if not isinstance(source, str):
            return _describe(Image.fromarray(source))
        if not os.path.isfile(source):
            fault = 'it is a folder' if os.path.isdir(source) else 'no such file'
            return Picture(fault=fault, missing=True)
        with Image.open(source) as image:
            return _describe(image)
    except UnidentifiedImageError:
        return Picture(fault='no known picture format')
    except Exception as error:  # a damaged file can fail in any way
        return Picture(fault=str(error) or type(error).__name__)


def picture_oddities(picture: Picture) -> Iterator[tuple[str, str]]:
    """Yield kind and detail of each oddity of a picture that could be decoded."""
    width, height = picture.width, picture.height
    size = f'{width} x {height}'
    if min(width, height) < _TINY_SIDE:
        yield 'tiny', size
    if width * height > _HUGE_PIXELS:
        yield 'huge', size
    if max(width, height) > _EXTREME_RATIO * min(width, height):
        yield 'long', size
    if picture.flat:
        yield 'flat', size
    if picture.mode in ('1', 'L', 'LA', 'La') or picture.mode.startswith(('I', 'F')):
        yield 'grey', picture.mode
    if picture.mode == 'CMYK':
        yield 'cmyk', picture.mode
    if picture.transparent:
        yield 'alpha', picture.mode
    if picture.mode.startswith(('I', 'F')):
        yield 'deep', picture.mode
    if picture.orientation != 1:
        yield 'rotated', f'orientation {picture.orientation}'
    if picture.frames > 1:
        yield 'animated', f'{picture.frames} frames'


def _describe(image: Image.Image) -> Picture:
    # MPO is a JPEG of a telephone or camera with a second picture that readers pass over.
    frames = 1 if image.format == 'MPO' else int(getattr(image, 'n_frames', 1))
    image.load()
    orientation = _orientation(image)
    mode = image.mode
    transparent = bool({'A', 'a'} & set(image.getbands())) or 'transparency' in image.info
    if mode == 'P':
        # The same indices may mean other colours.
        image = image.convert('RGBA' if transparent else 'RGB')
    pixels = image.tobytes()
    digest = hashlib.sha256(f'{image.mode} {image.size} '.encode())
    digest.update(pixels)
    extremes = image.getextrema()
    ranges = extremes if isinstance(extremes[0], tuple) else (extremes,)
    return Picture(
        width=image.width,
        height=image.height,
        mode=mode,
        digest=digest.hexdigest(),
        small=_small_copy(image),
        flat=all(low == high for low, high in ranges),
        transparent=transparent,
        orientation=orientation,
        frames=frames,
    )


def _orientation(image: Image.Image) -> int:
    try:
        value = image.getexif().get(_ORIENTATION, 1)
    except Exception:  # readers pass over damaged EXIF data
        return 1
    return value if value in range(1, 9) else 1


def _small_copy(image: Image.Image) -> np.ndarray:
    if image.mode.startswith(('I', 'F')):
        values = np.asarray(image, dtype=np.float64)
        scaled = (values - values.min()) * (255 / max(float(np.ptp(values)), 1e-9))
        image = Image.fromarray(scaled.astype(np.uint8))
    small = image.convert('RGB').resize(SMALL, Image.Resampling.BOX)
    return np.asarray(small)
