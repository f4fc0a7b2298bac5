"""Read the JSON form for splitting: rows stay as they are, labels become a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mmshufflemix.class_names import check_class_names
from mmshufflemix.datasets.checked_multi_label import read_json
from mmshufflemix.datasets.multi_label_json import check_row, read_labels

__all__ = ['LabelledRows', 'read_rows']


@dataclass(frozen=True)
class LabelledRows:
    """The rows of a JSON file.

    Attributes:
        metainfo: As in the file.
        classes: K class names.
        rows: N rows, as in the file.
        labels: Booleans of shape (N, K).
    """

    metainfo: dict[str, Any]
    classes: tuple[str, ...]
    rows: list[dict[str, Any]]
    labels: np.ndarray

    @property
    def names(self) -> list[str]:
        """The image path of each row."""
        return [row['img_path'] for row in self.rows]


def read_rows(path: str | Path) -> LabelledRows:
    """Read a file of ``metainfo`` and ``data_list``, with one or several labels a row.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is not in that form, has no rows, or a row is malformed.
    """
    content = read_json(str(path))
    rows, metainfo = content.get('data_list'), content.get('metainfo')
    if not isinstance(rows, list) or not isinstance(metainfo, dict) or 'classes' not in metainfo:
        raise ValueError(
            f"'{path}' must hold a list `data_list` and a dict `metainfo` with `classes`; "
            'tools/convert_labels.py writes such files'
        )
    classes = check_class_names(metainfo['classes'])
    if not rows:
        raise ValueError(f"'{path}' has no rows in its data_list, so there is nothing to split")
    ids = {name: index for index, name in enumerate(classes)}
    labels = np.zeros((len(rows), len(classes)), bool)
    for index, row in enumerate(rows):
        labels[index, _labels_of(row, ids, f"row {index + 1} of '{path}'")] = True
    return LabelledRows(metainfo, classes, rows, labels)


def _labels_of(row: Any, ids: Mapping[str, int], where: str) -> list[int]:
    check_row(row, where)
    value = row.get('gt_label')
    single = type(value) is int or isinstance(value, str)
    return read_labels([value] if single else value, ids, f'gt_label in {where}')
