"""Labels from the objects of VOC and COCO annotations, through the data sets for them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mmshufflemix.datasets.coco_multi_label import COCOMultiLabel
from mmshufflemix.datasets.voc_files import read_image_list, read_objects
from mmshufflemix.datasets.voc_multi_label import VOCMultiLabel
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
    names = read_image_list(os.path.join(root, 'ImageSets', 'Main', f'{image_list}.txt'))
    files = [os.path.join(root, 'Annotations', f'{name}.xml') for name in names]
    present = [file for file in files if os.path.isfile(file)]
    used = sorted({name for file in present for name, _ in read_objects(file)})
    if classes is None:
        classes = used
    unknown = [name for name in used if name not in classes]
    if unknown:
        raise ValueError(
            f"objects in the list {image_list} of '{root}' have classes that are not in --classes: "
            f'{some(unknown)}; add them, or leave --classes out to take all'
        )
    dataset = VOCMultiLabel(
        str(root), image_list, metainfo={'classes': tuple(classes)}, test_mode=True, pipeline=[]
    )
    return _table_of(dataset, f"the list {image_list} of '{root}'")


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
    return _table_of(dataset, f"'{path}'")


def _table_of(dataset: VOCMultiLabel | COCOMultiLabel, source: str) -> LabelTable:
    classes = tuple(dataset.metainfo['classes'])
    rows = []
    for index in range(len(dataset)):
        info = dataset.get_data_info(index)
        name = os.path.relpath(info['img_path'], dataset.img_prefix or '.')
        rows.append(
            LabelRow(
                name,
                tuple(classes[label] for label in info['gt_label']),
                f'image {index + 1} of {source}',
                tuple(classes[label] for label in info['gt_label_difficult']),
            )
        )
    return LabelTable(rows, classes)
