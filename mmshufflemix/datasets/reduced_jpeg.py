"""Decode JPEG pictures to a half, a quarter or an eighth of their size."""

from __future__ import annotations

import io
import math
from typing import NamedTuple

import cv2
import numpy as np
from PIL import ExifTags, Image

__all__ = [
    'REDUCED_FLAGS',
    'JPEGHeader',
    'decode_reduced',
    'min_side_of_crop',
    'read_jpeg_header',
    'reduction',
]

REDUCED_FLAGS = {
    2: cv2.IMREAD_REDUCED_COLOR_2,
    4: cv2.IMREAD_REDUCED_COLOR_4,
    8: cv2.IMREAD_REDUCED_COLOR_8,
}
"""OpenCV's flag for each reduction."""


class JPEGHeader(NamedTuple):
    """Size of a JPEG picture after the turn that EXIF asks for.

    Attributes:
        height: In pixels.
        width: In pixels.
        turned: Whether EXIF asks for a turn or a reflection.
    """

    height: int
    width: int
    turned: bool


def decode_reduced(content: bytes, min_side: int) -> tuple[np.ndarray, tuple[int, int]] | None:
    """Decode a large JPEG picture in colour to the smallest size that keeps enough pixels.

    Args:
        content: The file.
        min_side: Pixels that the short side keeps at least.

    Returns:
        The upright pixels (H, W, 3) in BGR order, and height and width of the whole picture. None
        for a picture that has to be decoded whole: too small, not JPEG, not in colour, or broken.
    """
    header = read_jpeg_header(content)
    if header is None:
        return None
    height, width, _ = header
    factor = reduction(min(height, width), min_side)
    if factor == 1:
        return None
    image = cv2.imdecode(np.frombuffer(content, np.uint8), REDUCED_FLAGS[factor])
    if image is None or image.shape[:2] != (-(-height // factor), -(-width // factor)):
        return None
    return image, (height, width)


def read_jpeg_header(content: bytes) -> JPEGHeader | None:
    """Return size and orientation of a JPEG picture in colour, None for anything else."""
    # Whatever goes wrong here is left to OpenCV, which knows whether it can read the picture.
    try:
        with Image.open(io.BytesIO(content), formats=('JPEG',)) as image:
            if image.mode != 'RGB':
                return None
            width, height = image.size
            orientation = _orientation(image.info['exif']) if 'exif' in image.info else 1
    except Exception:
        return None
    if orientation in (5, 6, 7, 8):
        height, width = width, height
    return JPEGHeader(height, width, orientation != 1)


def reduction(short_side: int, min_side: int) -> int:
    """Return the largest of 8, 4, 2 and 1 that leaves the short side ``min_side`` pixels.

    A side of ``n`` pixels has ``ceil(n / factor)`` after the reduction.
    """
    return next((factor for factor in (8, 4, 2) if -(-short_side // factor) >= min_side), 1)


def min_side_of_crop(size: int, smallest_scale: float) -> int:
    """Return the short side from which no crop of ``MultiScaleCrop`` is enlarged.

    The smallest crop is ``floor(short side * smallest scale)`` high or wide, so this is the least
    side for which that is at least ``size``.

    Args:
        size: Side of the result in pixels.
        smallest_scale: The least of ``MultiScaleCrop``'s ``scales``, in (0, 1].
    """
    side = math.ceil(size / smallest_scale)
    # The product may fall short of size by rounding.
    return side if math.floor(side * smallest_scale) >= size else side + 1


def _orientation(exif: bytes) -> int:
    # Not Pillow's getexif, which also looks for an orientation in XMP; OpenCV does not.
    tags = Image.Exif()
    tags.load(exif)
    return tags.get(ExifTags.Base.Orientation, 1)
