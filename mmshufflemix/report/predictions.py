"""Predictions of a test set for a report: find the file and put it into arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mmshufflemix.evaluation.multi_label_sample import read_sample, stack_samples

__all__ = ['Predictions', 'find_predictions', 'num_scores', 'to_predictions']

_HEAD = 1 << 18  # bytes of a file that are looked at; a record is shorter
_LISTS = {'pred_score', 'gt_label', 'gt_score', 'gt_label_difficult'}


@dataclass(frozen=True)
class Predictions:
    """Scores and labels of N images and K classes.

    Attributes:
        scores: Scores (N, K).
        targets: Booleans (N, K).
        valid: Booleans (N, K), False for difficult cells, which count for nothing.
        names: The K class names.
        pictures: Path of each image, None where the data set has no files.
        single: Whether each image has one label and the scores are shares of one.
    """

    scores: np.ndarray
    targets: np.ndarray
    valid: np.ndarray
    names: Sequence[str]
    pictures: Sequence[str | None]
    single: bool


def find_predictions(work_dir: Path) -> Path | None:
    """Find the newest file of ``tools/test.py --out`` in a folder or in one below it."""
    paths = [*work_dir.glob('*.json'), *work_dir.glob('*/*.json')]
    found = [path for path in paths if path.is_file() and _looks_like_predictions(path)]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def num_scores(records: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of classes of predictions."""
    return len(records[0]['pred_score'])


def to_predictions(records: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Predictions:
    """Check records and put them into arrays.

    Args:
        records: Of at least one image.
        names: The K class names.

    Raises:
        ValueError: If a record cannot be used (see
            :func:`~mmshufflemix.evaluation.multi_label_sample.read_sample`).
    """
    pictures = [_path_of(record) for record in records]
    cells = []
    for index, record in enumerate(records):
        where = pictures[index] or f'record {index}'
        for key in _LISTS & record.keys():
            if not _is_numbers(record[key]):
                raise ValueError(f'{key} of {where} is no list of numbers; make the file anew')
        cells.append(read_sample(record, where, names))
    scores, targets, difficult = stack_samples(cells)
    scores = scores.astype(np.float64)
    marked = [cell.difficult is not None for cell in cells]
    one_label = not any(marked) and bool((targets.sum(axis=1) == 1).all())
    single = one_label and bool(np.allclose(scores.sum(axis=1), 1, atol=0.01))
    return Predictions(scores, targets, ~difficult, names, pictures, single)


def _looks_like_predictions(path: Path) -> bool:
    with path.open('rb') as file:
        head = file.read(_HEAD)
    return head.lstrip().startswith(b'[') and b'"pred_score"' in head


def _is_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, int | float) for item in value)


def _path_of(record: Mapping[str, Any]) -> str | None:
    path = record.get('img_path')
    return path if isinstance(path, str) and path else None
