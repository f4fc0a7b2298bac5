"""Small data sets in the official layouts of the single-label experiments."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from mmpretrain.datasets.categories import FGVCAIRCRAFT_CATEGORIES
from PIL import Image
from scipy.io import savemat

WNIDS = ('n02', 'n01', 'n03')
"""Not sorted, like the official file."""


def save_picture(
    path: Path, seed: int, size: tuple[int, int] = (64, 64), mode: str = 'RGB'
) -> None:
    """Save a random picture of (width, height) and make its folder."""
    shape = (size[1], size[0], 3) if mode == 'RGB' else (size[1], size[0])
    pixels = np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


def write_tiny_imagenet(root: Path, wnids: Sequence[str] = WNIDS, count: int = 4) -> Path:
    """Write ``count`` train and two val pictures a class; the first of each class is grey."""
    lines = []
    for label, wnid in enumerate(wnids):
        for index in range(count):
            path = root / 'train' / wnid / 'images' / f'{wnid}_{index}.JPEG'
            save_picture(path, 100 * label + index, mode='RGB' if index else 'L')
        for index in range(2):
            name = f'val_{2 * label + index}.JPEG'
            save_picture(root / 'val' / 'images' / name, 1000 + 2 * label + index)
            lines.append(f'{name}\t{wnid}\t0\t0\t9\t9')
    (root / 'val' / 'val_annotations.txt').write_text('\n'.join(lines) + '\n')
    (root / 'wnids.txt').write_text('\n'.join(wnids) + '\n')
    words = {'n00': 'not used', 'n01': 'cat, house cat', 'n02': 'crane', 'n03': 'crane'}
    (root / 'words.txt').write_text(''.join(f'{key}\t{name}\n' for key, name in words.items()))
    return root


def write_tiles(
    root: Path, classes: Sequence[str] = ('pear', 'apple', 'plum'), rows: int = 2, columns: int = 3
) -> Path:
    """Write lossless pictures of 32 x 32 tiles, ``rows`` of them in train and one row in test."""
    for seed, name in enumerate(classes):
        for split, height in (('train', rows), ('test', 1)):
            pixels = np.random.default_rng([seed, height]).integers(
                0, 256, (32 * height, 32 * columns, 3), dtype=np.uint8
            )
            (root / split).mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels).save(root / split / f'{name}.webp', lossless=True)
    return root


def write_cifar100(root: Path, count: int) -> Path:
    """Write ``count`` training and test pictures of CIFAR-100 as the official pickles."""
    folder = root / 'cifar-100-python'
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for name in ('train', 'test'):
        data = rng.integers(0, 256, (count, 3 * 32 * 32), dtype=np.uint8)
        entry = {'data': data, 'fine_labels': [99 - index for index in range(count)]}
        (folder / name).write_bytes(pickle.dumps(entry))
    return root


def write_cub(root: Path, count: int = 4) -> Path:
    """Write ``count`` training and test pictures of two classes of CUB-200-2011."""
    names = [f'{i % 2 + 1:03d}.Bird/Bird_{i:04d}.jpg' for i in range(2 * count)]
    for seed, name in enumerate(names):
        save_picture(root / 'images' / name, seed, (60, 40))
    tables = {
        'images': names,
        'image_class_labels': [i % 2 + 1 for i in range(2 * count)],
        'train_test_split': [int(i < count) for i in range(2 * count)],
    }
    for table, values in tables.items():
        lines = [f'{number} {value}\n' for number, value in enumerate(values, start=1)]
        (root / f'{table}.txt').write_text(''.join(lines))
    return root


def write_cars(root: Path, count: int = 4) -> Path:
    """Write ``count`` training and test pictures of two classes of Stanford Cars."""
    fields = [('relative_im_path', object), ('class', object), ('test', object)]
    annotations = np.zeros((1, 2 * count), dtype=fields)
    for i in range(2 * count):
        name = f'car_ims/{i + 1:06d}.jpg'
        save_picture(root / name, i, (60, 40))
        annotations[0, i] = (name, i % 2 + 195, int(i >= count))
    savemat(root / 'cars_annos.mat', {'annotations': annotations})
    return root


def write_aircraft(root: Path, count: int = 4) -> Path:
    """Write ``count`` training and test pictures of two variants of FGVC-Aircraft."""
    variants = FGVCAIRCRAFT_CATEGORIES[-2:]
    for split, start in (('trainval', 0), ('test', count)):
        lines = []
        for i in range(start, start + count):
            save_picture(root / 'data' / 'images' / f'{i:07d}.jpg', i, (60, 40))
            lines.append(f'{i:07d} {variants[i % 2]}\n')
        (root / 'data' / f'images_variant_{split}.txt').write_text(''.join(lines))
    return root
