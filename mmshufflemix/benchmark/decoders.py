"""The ways to decode and to resize a picture that are compared."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Callable
from functools import partial

import mmcv
import numpy as np
import torch
from PIL import Image

from mmshufflemix.datasets.reduced_jpeg import REDUCED_FLAGS, read_jpeg_header, reduction

__all__ = ['BASE', 'Decode', 'Resize', 'list_decoders', 'list_resizers']

Decode = Callable[[bytes], np.ndarray]
"""Takes a file, returns (H, W, 3) in BGR order."""
Resize = Callable[[np.ndarray, int], np.ndarray]
"""Takes (H, W, 3) and the side of the result, returns (side, side, 3)."""
BASE = 'opencv'
"""What MMPretrain uses, which the others are compared to."""


def list_decoders(min_side: int) -> dict[str, Decode | None]:
    """Name the decoders; those not installed are None.

    Args:
        min_side: Least short side in pixels that the reduced ones leave.
    """
    torchvision = importlib.util.find_spec('torchvision') is not None
    simplejpeg = importlib.util.find_spec('simplejpeg') is not None
    return {
        BASE: _opencv,
        'pillow': partial(mmcv.imfrombytes, backend='pillow'),
        'torchvision': _torchvision if torchvision else None,
        'simplejpeg': partial(_simplejpeg, factor=1) if simplejpeg else None,
        'opencv reduced': _reduced(_opencv_reduced, min_side),
        'pillow reduced': _reduced(_pillow_reduced, min_side),
        'simplejpeg reduced': _reduced(_simplejpeg, min_side) if simplejpeg else None,
    }


def list_resizers() -> dict[str, Resize | None]:
    """Name the bilinear resizers; those not installed are None."""
    installed = importlib.util.find_spec('torchvision') is not None
    return {
        BASE: partial(_mmcv_resize, backend='cv2'),
        'pillow': partial(_mmcv_resize, backend='pillow'),
        'torchvision': partial(_torchvision_resize, antialias=False) if installed else None,
        'torchvision antialias': (
            partial(_torchvision_resize, antialias=True) if installed else None
        ),
    }


def _opencv(content: bytes) -> np.ndarray:
    return mmcv.imfrombytes(content, backend='cv2')


def _reduced(decode: Callable[[bytes, int], np.ndarray], min_side: int) -> Decode:
    """Take a function that decodes to one part in ``factor``, for pictures that allow it."""

    def run(content: bytes) -> np.ndarray:
        header = read_jpeg_header(content)
        factor = 1 if header is None else reduction(min(header[:2]), min_side)
        whole = header is None or header.turned or factor == 1
        return _opencv(content) if whole else decode(content, factor)

    return run


def _opencv_reduced(content: bytes, factor: int) -> np.ndarray:
    return mmcv.imfrombytes(content, flag=REDUCED_FLAGS[factor], backend='cv2')


def _pillow_reduced(content: bytes, factor: int) -> np.ndarray:
    with Image.open(io.BytesIO(content)) as image:
        # Rounded down, since it takes the largest reduction that leaves this much.
        image.draft('RGB', (image.width // factor, image.height // factor))
        return np.asarray(image)[..., ::-1]


def _simplejpeg(content: bytes, factor: int) -> np.ndarray:
    from simplejpeg import decode_jpeg, decode_jpeg_header

    # It reduces as far as the least height and width allow.
    height, width = (-(-side // factor) for side in decode_jpeg_header(content)[:2])
    return decode_jpeg(
        content, 'BGR', min_height=height, min_width=width, min_factor=factor, strict=False
    )


def _torchvision(content: bytes) -> np.ndarray:
    from torchvision.io import ImageReadMode, decode_jpeg

    data = torch.frombuffer(bytearray(content), dtype=torch.uint8)
    image = decode_jpeg(data, mode=ImageReadMode.RGB, apply_exif_orientation=True)
    return image.permute(1, 2, 0).numpy()[..., ::-1]


def _mmcv_resize(image: np.ndarray, side: int, backend: str) -> np.ndarray:
    return mmcv.imresize(image, (side, side), backend=backend)


def _torchvision_resize(image: np.ndarray, side: int, antialias: bool) -> np.ndarray:
    from torchvision.transforms.v2.functional import resize

    channels_first = torch.from_numpy(image).permute(2, 0, 1)
    resized = resize(channels_first, [side, side], antialias=antialias)
    return resized.permute(1, 2, 0).numpy()
