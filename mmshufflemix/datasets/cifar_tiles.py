"""CIFAR-100 as one lossless picture of tiles for each class and split."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from mmpretrain.registry import DATASETS
from PIL import Image

from mmshufflemix.datasets.checked_multi_label import CheckedDataset
from mmshufflemix.text import some

__all__ = ['SIDE', 'SPLITS', 'CIFARTiles', 'read_tiles', 'tile_files']

SIDE = 32
SPLITS = ('train', 'test')
_ENDING = '.webp'


@DATASETS.register_module()
class CIFARTiles(CheckedDataset):
    """Images of ``<data_root>/<split>/<class>.webp``, all held in memory.

    Like MMPretrain's ``CIFAR100``, and interchangeable with it: a sample has ``img``, an RGB uint8
    array (32, 32, 3), and ``gt_label``; the class names, the sorted names of the files, are the
    official fine labels in the same order. Nothing is downloaded or unpacked. Samples are ordered
    by class, then row by row of the tiles.

    Args:
        data_root: Folder with ``train`` and ``test``.
        split: ``'train'`` or ``'test'``.
        **kwargs: Arguments of MMPretrain's ``BaseDataset``, such as ``pipeline``.

    Raises:
        TypeError: If ``data_root`` is no path.
        ValueError: If ``split`` is unknown, the splits differ in their classes, or a picture is not
            made of tiles of 32 x 32 pixels.
        FileNotFoundError: If the folder of the split has no such pictures.
    """

    def __init__(self, data_root: str, split: str = 'train', **kwargs: Any) -> None:
        if split not in SPLITS:
            raise ValueError(f"split must be 'train' or 'test', got {split!r}")
        if not isinstance(data_root, str | os.PathLike):
            raise TypeError(
                f'data_root must be the folder that holds train and test, got {data_root!r}'
            )
        self.split = split
        super().__init__(ann_file='', data_root=data_root, data_prefix=split, **kwargs)

    def load_data_list(self) -> list[dict]:
        """Decode all pictures of the split."""
        files = tile_files(self.data_root, self.split)
        names = tuple(files)
        given = self._metainfo.setdefault('classes', names)
        if given != names:
            raise ValueError(
                f'classes ({some(given)}) differ from the files in {self.img_prefix} '
                f'({some(names)}); leave them out, and choose some by ClassSubset'
            )
        return [
            {'img': image, 'gt_label': label}
            for label, path in enumerate(files.values())
            for image in read_tiles(path)
        ]


def tile_files(data_root: str | Path, split: str) -> dict[str, Path]:
    """List the pictures of a split by class name, sorted.

    Raises:
        FileNotFoundError: If there are none.
        ValueError: If the other split has other classes, so that labels would not agree.
    """
    root = Path(os.path.expanduser(data_root))
    found = {
        name: {path.stem: path for path in sorted((root / name).glob(f'*{_ENDING}'))}
        for name in SPLITS
    }
    files = found[split]
    if not files:
        raise FileNotFoundError(
            f'{root / split} has no <class>{_ENDING}; set data_root to the folder that holds '
            'train and test'
        )
    differing = sorted(set(found['train']) ^ set(found['test']))
    if differing and all(found.values()):
        raise ValueError(
            f'train and test in {root} differ in {len(differing)} classes ({some(differing)}); '
            f'expected one <class>{_ENDING} of the same names in both'
        )
    return dict(sorted(files.items()))


def read_tiles(path: str | Path) -> np.ndarray:
    """Read one picture of tiles.

    Returns:
        The tiles row by row, uint8 RGB (N, 32, 32, 3).

    Raises:
        ValueError: If the picture cannot be decoded or its sides are no multiples of 32 pixels.
    """
    try:
        with Image.open(path) as picture:
            pixels = np.asarray(picture.convert('RGB'))
    except OSError as error:
        raise ValueError(f'cannot decode {path} ({error}); replace it by an intact copy') from error
    height, width, _ = pixels.shape
    if height % SIDE or width % SIDE:
        raise ValueError(
            f'{path} has {width} x {height} pixels, expected multiples of {SIDE} (rows of tiles)'
        )
    tiles = pixels.reshape(height // SIDE, SIDE, width // SIDE, SIDE, 3)
    return tiles.transpose(0, 2, 1, 3, 4).reshape(-1, SIDE, SIDE, 3)
