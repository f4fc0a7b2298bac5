"""Predict the labels of pictures with a file of tools/export_onnx.py.

An example to copy: it needs only onnxruntime, NumPy and Pillow.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import numpy as np
import onnxruntime
from PIL import Image, ImageOps, UnidentifiedImageError

KEYS = ('class_names', 'thresholds', 'input_size', 'resize_rule')
FORMATS = ('BMP', 'JPEG', 'PNG', 'PPM', 'TIFF', 'WEBP')


def printable(text: str) -> str:
    return ''.join(sign if sign.isprintable() else '?' for sign in text)


def load(path: str) -> Image.Image:
    """Read a picture, upright; a bad file is a ValueError that says why."""
    try:
        # Pillow would run a program that is written in PostScript, whatever the file's name.
        return ImageOps.exif_transpose(Image.open(path, formats=FORMATS)).convert('RGB')
    except IsADirectoryError:
        folder = path.rstrip('/')
        reason = f'is a folder; give the pictures in it, such as {folder}/*.jpg'
    except UnidentifiedImageError:
        reason = 'cannot be decoded as a picture'
    except Exception as error:  # a damaged file can fail in any way
        reason = (getattr(error, 'strerror', None) or str(error) or 'is damaged').lower()
    raise ValueError(f'{path}: {reason}')


def prepare(image: Image.Image, size: tuple[int, int], rule: dict[str, Any]) -> np.ndarray:
    """Bring a picture to a height and a width; return RGB (3, H, W) from 0 to 255."""
    height, width = size
    target = (width, height)
    if rule['edge']:
        short = min(image.size)
        target = tuple(rule['edge'] * side // short for side in image.size)
    kind = Image.Resampling[rule['interpolation'].upper()]
    if target != image.size and (rule['antialias'] or kind == Image.Resampling.LANCZOS):
        image = image.resize(target, kind)
    elif target != image.size:
        # Unlike resize(), this does not smooth a picture that shrinks; nor did the training.
        image = image.transform(target, Image.Transform.EXTENT, (0, 0, *image.size), kind)
    left, top = round((image.width - width) / 2), round((image.height - height) / 2)
    image = image.crop((left, top, left + width, top + height))
    return np.asarray(image, np.float32).transpose(2, 0, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('model', help='file of tools/export_onnx.py')
    parser.add_argument('pictures', nargs='+', help='picture files')
    args = parser.parse_args()
    sys.stdout.reconfigure(errors='replace')  # a terminal need not know all letters
    session = onnxruntime.InferenceSession(args.model, providers=['CPUExecutionProvider'])
    meta = session.get_modelmeta().custom_metadata_map
    names, thresholds, size, rule = (json.loads(meta[key]) for key in KEYS)
    faults = []
    for path in args.pictures:
        try:
            picture = load(path)
        except ValueError as error:
            faults.append(printable(str(error)))
            print(f'skipped {faults[-1]}', file=sys.stderr)
            continue
        scores = session.run(['scores'], {'images': prepare(picture, size, rule)[None]})[0][0]
        # Without thresholds a picture has one label: the best is it.
        lowest = [scores.max()] * len(names) if thresholds is None else thresholds
        best = [k for k in np.argsort(-scores) if scores[k] >= lowest[k]]
        text = ', '.join(f'{names[k]} {scores[k]:.3f}' for k in best) or 'no label'
        print(printable(f'{path}: {text}'))
    if faults:
        sys.exit(
            f'error: {len(faults)} of {len(args.pictures)} pictures could not be read and were '
            f'skipped ({", ".join(faults[:3])}{", ..." if len(faults) > 3 else ""}).'
        )


if __name__ == '__main__':
    try:
        main()
    except Exception as error:
        reason = str(error).split(' : ')[-1]
        sys.exit(f'error: this model cannot be used, is it a file of export_onnx.py? {reason!a}')
