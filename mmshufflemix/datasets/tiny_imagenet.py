"""Tiny ImageNet in its official layout."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mmpretrain.registry import DATASETS

from mmshufflemix.class_names import check_class_names
from mmshufflemix.datasets.checked_multi_label import (
    CheckedDataset,
    check_inside,
)
from mmshufflemix.text import some

__all__ = ['TinyImageNet', 'class_names', 'read_val_annotations', 'read_wnids', 'read_words']

_ENDINGS = ('.jpeg', '.jpg', '.png')


@DATASETS.register_module()
class TinyImageNet(CheckedDataset):
    """Tiny ImageNet as it unpacks: 200 classes, 100,000 train and 10,000 val pictures of 64 x 64.

    The class ids follow the sorted WordNet ids of ``wnids.txt``, whatever their order in the file.
    ``metainfo['wnids']`` holds these; ``metainfo['classes']`` the names that ``words.txt`` gives
    them, with the WordNet id added to names that occur twice, or the id alone where there is no
    name. Some pictures are grey; ``LoadImageFromFile`` gives all of them three channels.

    Args:
        data_root: Folder with ``wnids.txt``, ``train`` and ``val``, such as ``tiny-imagenet-200``.
        split: ``'train'`` (``train/<wnid>/images``) or ``'val'`` (``val/images`` with
            ``val/val_annotations.txt``), which the paper tests on; ``test`` has no labels.
        missing_images: ``'error'``, or ``'skip'`` to go on without pictures that the list of val
            names but that are not there.
        **kwargs: Arguments of MMPretrain's ``BaseDataset``, such as ``pipeline``.

    Raises:
        TypeError: If ``data_root`` is no path.
        ValueError: If ``split`` is unknown, a file is empty or malformed, a class has no pictures,
            or the list of val has an unknown class.
        FileNotFoundError: If a file, the folder of a class, or pictures are missing.
    """

    def __init__(self, data_root: str, split: str = 'train', **kwargs: Any) -> None:
        if split not in ('train', 'val'):
            raise ValueError(
                f"split must be 'train' or 'val' (the test pictures have no labels), got {split!r}"
            )
        if not isinstance(data_root, str | os.PathLike):
            raise TypeError(
                'data_root must be the folder that holds wnids.txt, train and val, '
                f'got {data_root!r}'
            )
        self.split = split
        train = split == 'train'
        super().__init__(
            ann_file='wnids.txt' if train else os.path.join('val', 'val_annotations.txt'),
            data_root=os.path.expanduser(data_root),
            data_prefix='train' if train else os.path.join('val', 'images'),
            **kwargs,
        )

    def load_data_list(self) -> list[dict]:
        """Read the classes and list the pictures of the split."""
        root = Path(self.data_root)
        wnids = read_wnids(root / 'wnids.txt')
        names = class_names(wnids, read_words(root / 'words.txt'))
        given = self._metainfo.setdefault('classes', names)
        if len(given) != len(wnids):
            raise ValueError(
                f'{root / "wnids.txt"} has {len(wnids)} classes but `classes` has {len(given)} '
                'names; leave it out, and choose some classes by ClassSubset'
            )
        self._metainfo['wnids'] = wnids
        if self.split == 'train':
            pairs = _list_train(self.img_prefix, wnids)
        else:
            pairs = read_val_annotations(self.ann_file, wnids)
        return [
            {'img_path': os.path.join(self.img_prefix, name), 'gt_label': label}
            for name, label in pairs
        ]


def read_wnids(path: str | Path) -> tuple[str, ...]:
    """Read and sort the WordNet ids of ``wnids.txt``, one a line.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is empty or repeats an id.
    """
    wnids = sorted(line.strip() for line in _lines(path))
    for wnid in wnids:
        check_inside(wnid, str(path))
    try:
        return check_class_names(wnids)
    except ValueError as error:
        raise ValueError(f'{path} must hold one WordNet id a line: {error}') from error


def read_words(path: str | Path) -> dict[str, str]:
    """Read the names by WordNet id from ``words.txt``; without the file there are none."""
    if not os.path.isfile(path):
        return {}
    pairs = (line.partition('\t') for line in _lines(path))
    return {wnid.strip(): name.strip() for wnid, _, name in pairs if name.strip()}


def class_names(wnids: Sequence[str], words: Mapping[str, str]) -> tuple[str, ...]:
    """Name the classes: by their word, with the WordNet id where that is needed to tell them apart.

    Returns:
        As many distinct names as ``wnids``, in their order.
    """
    found = [words.get(wnid, wnid) for wnid in wnids]
    times = Counter(found)
    return tuple(
        name if times[name] == 1 else f'{name} ({wnid})'
        for wnid, name in zip(wnids, found, strict=True)
    )


def read_val_annotations(path: str | Path, wnids: Sequence[str]) -> list[tuple[str, int]]:
    """Read picture names and labels of ``val_annotations.txt``: name, WordNet id and box a line.

    Returns:
        Name and index into ``wnids`` of each picture, in the order of the file.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is empty, a line is malformed, or a WordNet id is unknown.
    """
    labels = {wnid: label for label, wnid in enumerate(wnids)}
    pairs = []
    for number, line in enumerate(_lines(path), start=1):
        name, wnid, *_ = [*line.split(), '', '']
        if not wnid:
            raise ValueError(
                f'line {number} of {path} is {line!r}, expected a picture name and a WordNet id'
            )
        if wnid not in labels:
            raise ValueError(
                f'line {number} of {path} has the class {wnid!r}, which is not in wnids.txt '
                f'({len(labels)} classes: {some(wnids, limit=3)})'
            )
        check_inside(name, str(path))
        pairs.append((name, labels[wnid]))
    return pairs


def _list_train(folder: str, wnids: Sequence[str]) -> list[tuple[str, int]]:
    parts = [os.path.join(wnid, 'images') for wnid in wnids]
    absent = [part for part in parts if not os.path.isdir(os.path.join(folder, part))]
    if absent:
        raise FileNotFoundError(
            f'{len(absent)} of the {len(wnids)} classes of wnids.txt have no folder in {folder}: '
            f'{some(absent, limit=3)}; unpack the whole set, or take them out of wnids.txt'
        )
    pairs: list[tuple[str, int]] = []
    for label, part in enumerate(parts):
        names = sorted(
            name
            for name in os.listdir(os.path.join(folder, part))
            if name.lower().endswith(_ENDINGS)
        )
        if not names:
            raise ValueError(
                f'{os.path.join(folder, part)} has no picture, expected <wnid>_<number>.JPEG'
            )
        pairs.extend((os.path.join(part, name), label) for name in names)
    return pairs


def _lines(path: str | Path) -> list[str]:
    if not os.path.isfile(path):
        raise FileNotFoundError(
            f'{path} does not exist; set data_root to the folder of Tiny ImageNet that holds '
            'wnids.txt, train and val'
        )
    try:
        text = Path(path).read_text('utf-8-sig')
    except UnicodeDecodeError as error:
        raise ValueError(
            f'{path} is not UTF-8 text; copy it anew from the archive of Tiny ImageNet'
        ) from error
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise ValueError(f'{path} is empty; copy it anew from the archive of Tiny ImageNet')
    return lines
