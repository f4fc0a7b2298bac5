"""Folders in the layout of COCO: ``annotations/instances_<split>.json`` and pictures in folders.

Pictures of a split are looked for in ``<split>``, ``images/<split>``, ``images`` and the folder
itself; the first of these that exists counts. Without ``instances_*.json``, every ``*.json`` in
``annotations`` is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mmshufflemix.dataset_check.findings import Fault
from mmshufflemix.dataset_check.readers.json_folder import split_order
from mmshufflemix.dataset_check.readers.labels import class_list
from mmshufflemix.dataset_check.rows import DataSet, Row, Split
from mmshufflemix.datasets.checked_multi_label import leads_out, read_json

__all__ = ['read_coco_folder', 'read_coco_rows']

_PARTS = ('images', 'annotations', 'categories')


def read_coco_folder(folder: Path) -> DataSet:
    """Read all splits."""
    files = list((folder / 'annotations').glob('instances_*.json'))
    splits, faults = [], []
    for path in split_order(files or (folder / 'annotations').glob('*.json')):
        name = path.stem.removeprefix('instances_')
        try:
            content = read_json(str(path))
        except (OSError, ValueError) as error:
            faults.append(Fault('unreadable-split', name, str(error)))
            continue
        absent = [part for part in _PARTS if not isinstance(content.get(part), list)]
        if absent:
            text = f'{path.name} has no list {" or ".join(absent)}'
            faults.append(Fault('unreadable-split', name, text))
            continue
        places = (folder / name, folder / 'images' / name, folder / 'images', folder)
        images = next(place for place in places if place.is_dir())
        splits.append(read_coco_rows(name, content, images))
    return DataSet(str(folder), 'COCO', splits, faults)


def read_coco_rows(name: str, content: dict[str, list[Any]], images: Path) -> Split:
    """Read the images of one file with the classes of their objects, in the order of the ids.

    Args:
        name: Of the split.
        content: Lists of ``images``, ``annotations`` and ``categories``.
        images: Folder of the pictures.
    """
    faults: list[Fault] = []
    categories = _by_id(content['categories'], 'name', 'categories', name, faults)
    files = _by_id(content['images'], 'file_name', 'images', name, faults)
    keys = sorted(categories)
    classes, notes = class_list([categories[key] for key in keys])
    faults += [Fault(kind, name, text) for kind, text in notes]
    split = Split(name, classes, faults=faults)
    labels = _labels(split, content['annotations'], set(files), {k: i for i, k in enumerate(keys)})
    for key, file in files.items():
        source: str | None = str(images / file)
        if leads_out(file):
            faults.append(Fault('outside', name, file))
            source = None
        split.rows.append(Row(file, source, tuple(sorted(labels.get(key, ())))))
    return split


def _by_id(
    entries: list[Any], text: str, where: str, split: str, faults: list[Fault]
) -> dict[int, str]:
    """Index the entries of a part by id, and note the malformed and repeated ones."""
    found: dict[int, str] = {}
    for number, entry in enumerate(entries, start=1):
        key = entry.get('id') if isinstance(entry, dict) else None
        if type(key) is not int or not isinstance(entry.get(text), str):
            faults.append(Fault('bad-row', split, f'{where} {number} lacks id or {text}'))
        elif key in found:
            faults.append(Fault('bad-row', split, f'{where} {number} repeats the id {key}'))
        else:
            found[key] = entry[text]
    return found


def _labels(
    split: Split, entries: list[Any], images: set[int], class_ids: dict[int, int]
) -> dict[int, set[int]]:
    """Collect the class ids of every image."""
    labels: dict[int, set[int]] = {}
    for number, entry in enumerate(entries, start=1):
        entry = entry if isinstance(entry, dict) else {}
        image, category = entry.get('image_id'), entry.get('category_id')
        if type(image) is not int or image not in images:
            fault = Fault('bad-row', split.name, f'annotation {number} has image_id {image!r}')
            split.faults.append(fault)
        elif type(category) is not int or category not in class_ids:
            text = f'image {image} (annotation {number}: category_id {category!r})'
            split.faults.append(Fault('unknown-label', split.name, text))
        else:
            labels.setdefault(image, set()).add(class_ids[category])
    return labels
