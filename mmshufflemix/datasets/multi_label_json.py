"""MMPretrain's JSON form of multi-label data, read with every row checked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from mmpretrain.registry import DATASETS

from mmshufflemix.class_names import check_class_names
from mmshufflemix.datasets.checked_multi_label import (
    CheckedMultiLabelDataset,
    check_inside,
    read_json,
)
from mmshufflemix.text import some

__all__ = ['MultiLabelJSON', 'check_row', 'read_labels']


@DATASETS.register_module()
class MultiLabelJSON(CheckedMultiLabelDataset):
    """MMPretrain's ``MultiLabelDataset`` for files whose labels cannot be trusted blindly.

    The file holds ``{"metainfo": {"classes": [...]}, "data_list": [{"img_path": "a.jpg",
    "gt_label": [0, 2]}, ...]}``. A row lists class ids or class names; an empty list is an image
    without labels. Rows that are one-hot, a bare integer, out of range or mixed are refused,
    because MMPretrain would read them as other labels. ``gt_label_difficult`` may list, in the same
    way, the classes that the metric should leave out.

    Args:
        ann_file: The JSON file, relative to ``data_root``.
        **kwargs: Arguments of MMPretrain's ``BaseDataset``.

    Raises:
        ValueError: If the file has no classes, its classes differ from those in ``metainfo``, or a
            row is malformed.
        FileNotFoundError: If the file or pictures are missing.
    """

    def load_data_list(self) -> list[dict]:
        """Read the annotation file."""
        content = read_json(self.ann_file)
        rows = content.get('data_list')
        metainfo = content.get('metainfo', {})
        if not isinstance(rows, list) or not isinstance(metainfo, dict):
            raise ValueError(
                f'{self.ann_file} must hold a list `data_list` and a dict `metainfo`, got the keys '
                f'{some(content)}'
            )
        self._set_classes(metainfo.get('classes'))
        class_ids = self.class_to_idx
        return [
            self._read_row(row, class_ids, f'row {number} of {self.ann_file}')
            for number, row in enumerate(rows, start=1)
        ]

    def _set_classes(self, listed: Any) -> None:
        given = self._metainfo.get('classes')
        if given is None and listed is None:
            raise ValueError(
                f'{self.ann_file} names no classes; add them to its metainfo or set '
                'metainfo=dict(classes=(...))'
            )
        names = given if listed is None else check_class_names(listed)
        if given is not None and given != names:
            raise ValueError(
                f'`classes` ({some(given)}) differ from those in {self.ann_file} ({some(names)}), '
                'to which its ids refer; leave `classes` out or make them equal'
            )
        self._metainfo['classes'] = names

    def _read_row(self, row: Any, class_ids: Mapping[str, int], where: str) -> dict:
        check_row(row, where)
        return {
            **row,
            'img_path': os.path.join(self.img_prefix, row['img_path']),
            'gt_label': read_labels(row.get('gt_label'), class_ids, f'gt_label in {where}'),
            'gt_label_difficult': read_labels(
                row.get('gt_label_difficult', []), class_ids, f'gt_label_difficult in {where}'
            ),
        }


def check_row(row: Any, where: str) -> None:
    """Check that a row names an image inside the image folder.

    Raises:
        ValueError: If it does not.
    """
    if not isinstance(row, dict) or not isinstance(row.get('img_path'), str):
        raise ValueError(f'{where} has no img_path, expected the name of an image file')
    check_inside(row['img_path'], where)


def read_labels(value: Any, class_ids: Mapping[str, int], where: str) -> list[int]:
    """Read one row's labels.

    For two classes ``[0, 1]`` means both, ``[1, 0]`` is refused as it looks one-hot.

    Returns:
        The sorted class ids, each once.

    Raises:
        ValueError: If the labels are not distinct ids in range, or known names.
    """
    expected = f'expected a list of class ids 0..{len(class_ids) - 1} or of class names'
    if not isinstance(value, list):
        raise ValueError(f'{where} is {value!r}, {expected}')
    if value and all(isinstance(item, str) for item in value):
        unknown = sorted({name for name in value if name not in class_ids})
        if unknown:
            raise ValueError(
                f'{where} has {len(unknown)} names not in `classes`: {some(unknown)}; {expected}'
            )
        return sorted({class_ids[name] for name in value})
    if not all(type(item) is int for item in value):
        raise ValueError(f'{where} is {value!r}, {expected}')
    if _looks_one_hot(value, len(class_ids)):
        raise ValueError(
            f'{where} is {value!r}, which looks one-hot and would be read as class ids; {expected}'
        )
    if any(not 0 <= item < len(class_ids) for item in value):
        raise ValueError(f'{where} is {value!r}, with ids out of range; {expected}')
    if len(set(value)) < len(value):
        raise ValueError(f'{where} is {value!r}, with repeated ids; {expected}, each once')
    return sorted(value)


def _looks_one_hot(value: list[int], num_classes: int) -> bool:
    return len(value) == num_classes > 1 and set(value) <= {0, 1} and value != [0, 1]
