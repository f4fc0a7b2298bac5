"""Labels from the objects of VOC and COCO annotations, by the rules of the data sets for them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mmshufflemix.class_names import check_class_names
from mmshufflemix.datasets.coco_multi_label import COCOMultiLabel
from mmshufflemix.datasets.voc_files import read_annotations
from mmshufflemix.datasets.voc_multi_label import split_difficult
from mmshufflemix.label_files.table import LabelRow, LabelTable
from mmshufflemix.text import some

__all__ = ['read_coco_labels', 'read_voc_labels']


def read_voc_labels(
    root: str | Path, image_list: str = 'trainval', classes: Sequence[str] | None = None
) -> LabelTable:
    """Read the images of a list of a VOC tree.

    Classes with difficult objects only are kept apart, as in ``VOCMultiLabel`` in testing.

    Args:
        root: Folder with ``Annotations`` and ``ImageSets/Main``.
        image_list: Name of a list in ``ImageSets/Main``.
        classes: All classes; None takes those that occur, sorted.

    Raises:
        FileNotFoundError: If the list or annotation files are missing.
        ValueError: If a file is malformed or has a class not in ``classes``.
    """
    source = f"the list {image_list} of '{root}'"
    names, objects = read_annotations(
        os.path.join(root, 'ImageSets', 'Main', f'{image_list}.txt'),
        os.path.join(root, 'Annotations'),
    )
    used = sorted({name for found in objects for name, _ in found})
    known = check_class_names(used if classes is None else classes)
    unknown = [name for name in used if name not in known]
    if unknown:
        raise ValueError(
            f'objects in {source} have classes that are not in --classes: {some(unknown)}; add '
            'them, or leave --classes out to take all'
        )
    ids = {name: index for index, name in enumerate(known)}
    rows = []
    for number, (name, found) in enumerate(zip(names, objects, strict=True), start=1):
        labels, difficult = (
            tuple(known[label] for label in part) for part in split_difficult(found, ids)
        )
        rows.append(LabelRow(f'{name}.jpg', labels, f'image {number} of {source}', difficult))
    return LabelTable(rows, known)


def read_coco_labels(path: str | Path, classes: Sequence[str] | None = None) -> LabelTable:
    """Read the images of an ``instances_*.json`` file.

    Args:
        path: The file.
        classes: The categories to keep; None takes all in the order of their ids.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is malformed or ``classes`` has a name that is no category.
    """
    metainfo = None if classes is None else {'classes': tuple(classes)}
    dataset = COCOMultiLabel(
        ann_file=str(path), metainfo=metainfo, test_mode=True, pipeline=[], data_root=''
    )
    names = tuple(dataset.metainfo['classes'])
    rows = []
    for index in range(len(dataset)):
        info = dataset.get_data_info(index)
        picture = os.path.relpath(info['img_path'], dataset.img_prefix or '.')
        labels = tuple(names[label] for label in info['gt_label'])
        rows.append(LabelRow(picture, labels, f"image {index + 1} of '{path}'"))
    return LabelTable(rows, names)
