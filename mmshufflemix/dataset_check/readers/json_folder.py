"""Folders of JSON files in MMPretrain's multi-label form.

``FOLDER/train.json``, ``val.json``, ``test.json`` or any other ``*.json`` that holds
``{"metainfo": {"classes": [...]}, "data_list": [{"img_path": "a.jpg", "gt_label": [0, 2]}]}``;
pictures are relative to ``FOLDER/images``, or to ``FOLDER`` where there is no such folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mmshufflemix.dataset_check.findings import Fault
from mmshufflemix.dataset_check.readers.labels import class_list, tolerant_labels
from mmshufflemix.dataset_check.rows import DataSet, Row, Split, is_training
from mmshufflemix.datasets.checked_multi_label import leads_out, read_json
from mmshufflemix.inference.sources import find_pictures

__all__ = ['read_json_folder', 'read_json_rows', 'split_order']

_SPLITS = ('train', 'trainval', 'val', 'test')


def read_json_folder(folder: Path) -> DataSet:
    """Read all splits; files of another form are left out unless they have a split's name.

    So is ``all.json`` where it has been split: its images are those of the parts.
    """
    images = folder / 'images' if (folder / 'images').is_dir() else folder
    splits, faults = [], []
    paths = split_order(folder.glob('*.json'))
    divided = any(is_training(path.stem) for path in paths)
    for path in paths:
        if divided and path.stem == 'all':
            continue
        try:
            content = read_json(str(path))
        except (OSError, ValueError) as error:
            faults.append(Fault('unreadable-split', path.stem, str(error)))
            continue
        if 'data_list' in content or path.stem in _SPLITS:
            splits.append(read_json_rows(path.stem, content, images))
    if splits and images != folder:
        faults += [
            Fault('unlisted', 'all splits', os.path.relpath(path, images))
            for path in _unlisted(images, splits)
        ]
    layout = f'JSON files, pictures in {images.name if images != folder else "the folder itself"}'
    return DataSet(str(folder), layout, splits, faults)


def read_json_rows(name: str, content: dict, images: Path) -> Split:
    """Read the rows of one file.

    Args:
        name: Of the split.
        content: What the file holds.
        images: Folder of the pictures.
    """
    metainfo, rows = content.get('metainfo'), content.get('data_list')
    listed = metainfo.get('classes') if isinstance(metainfo, dict) else None
    classes, notes = class_list(listed)
    split = Split(name, classes)
    split.faults.extend(Fault(kind, name, text) for kind, text in notes)
    if not isinstance(rows, list):
        split.faults.append(Fault('unreadable-split', name, 'it has no list `data_list`'))
        return split
    for number, row in enumerate(rows, start=1):
        _read_row(split, number, row, images)
    return split


def split_order(paths: Iterable[Path]) -> list[Path]:
    """Sort files by name, training splits first, then validation, then test."""

    def place(path: Path) -> tuple[int, str]:
        stem = path.stem.removeprefix('instances_')
        return next((i for i, name in enumerate(_SPLITS) if stem.startswith(name)), 9), stem

    return sorted(paths, key=place)


def _read_row(split: Split, number: int, row: Any, images: Path) -> None:
    name = row.get('img_path') if isinstance(row, dict) else None
    if not isinstance(name, str) or not name:
        split.faults.append(Fault('bad-row', split.name, f'row {number} has no img_path'))
        return
    labels, notes = tolerant_labels(row.get('gt_label'), split.classes)
    difficult, more = tolerant_labels(row.get('gt_label_difficult', []), split.classes)
    where = f'{name} (row {number}'
    notes += [(kind, f'{text}, difficult') for kind, text in more]
    split.faults.extend(
        Fault(kind, split.name, f'{where}: {text})')
        for kind, text in notes
        # Without classes, no label is known or in range.
        if split.classes or kind == 'bad-labels'
    )
    source: str | None = str(images / name)
    if leads_out(name):
        split.faults.append(Fault('outside', split.name, f'{where})'))
        source = None
    split.rows.append(Row(name, source, labels, difficult, bool(notes)))


def _unlisted(images: Path, splits: list[Split]) -> list[str]:
    listed = {
        os.path.normpath(row.source)
        for split in splits
        for row in split.rows
        if isinstance(row.source, str)
    }
    return [path for path in find_pictures([str(images)]) if os.path.normpath(path) not in listed]
