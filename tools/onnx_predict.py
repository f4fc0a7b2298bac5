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
from PIL import Image

KEYS = ('class_names', 'thresholds', 'input_size', 'resize_rule')
FORMATS = ('BMP', 'JPEG', 'PNG', 'PPM', 'TIFF', 'WEBP')


def prepare(picture: Image.Image, size: tuple[int, int], rule: dict[str, Any]) -> np.ndarray:
    """Bring a picture to a height and a width; return RGB (3, H, W) from 0 to 255."""
    height, width = size
    image = picture.convert('RGB')
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
    session = onnxruntime.InferenceSession(args.model, providers=['CPUExecutionProvider'])
    meta = session.get_modelmeta().custom_metadata_map
    if not set(KEYS) <= set(meta):
        raise ValueError(f'{args.model} is no file of tools/export_onnx.py')
    names, thresholds, size, rule = (json.loads(meta[key]) for key in KEYS)
    for path in args.pictures:
        # Pillow would run a program that is written in PostScript, whatever the file's name.
        image = prepare(Image.open(path, formats=FORMATS), size, rule)
        scores = session.run(['scores'], {'images': image[None]})[0][0]
        # Without thresholds a picture has one label: the best is it.
        lowest = [scores.max()] * len(names) if thresholds is None else thresholds
        best = [k for k in np.argsort(-scores) if scores[k] >= lowest[k]]
        text = ', '.join(f'{names[k]} {scores[k]:.3f}' for k in best) or 'no label'
        print(''.join(sign if sign.isprintable() else '?' for sign in f'{path}: {text}'))


if __name__ == '__main__':
    try:
        main()
    except Exception as error:
        sys.exit(f'error: {type(error).__name__}: {str(error)!a}')
