"""The parts of a report on tuned thresholds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mmshufflemix.inference import threshold_vector
from mmshufflemix.page import Section
from mmshufflemix.report.multi_label import class_f1
from mmshufflemix.report.predictions import Predictions
from mmshufflemix.report.text import DASH, number, percent
from mmshufflemix.text import printable

__all__ = ['read_thresholds', 'threshold_sections']

_ROWS = {'0.5': 'threshold 0.5', 'shared': 'one tuned', 'per class': 'tuned by class'}
_REMARKS = {
    'shared': 'of all classes together: too few positives',
    'precision_not_reached': 'precision not reached',
}
_MEASURES = ('CP', 'CR', 'CF1', 'OP', 'OR', 'OF1')


def read_thresholds(path: Path, names: Sequence[str]) -> tuple[np.ndarray, dict[str, Any]]:
    """Read a file of ``tools/tune_thresholds.py``.

    Args:
        path: The file.
        names: The K class names.

    Returns:
        The thresholds (K,), and all that the file says.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it holds something else (see
            :func:`~mmshufflemix.inference.threshold_vector`).
    """
    if not path.is_file():
        raise FileNotFoundError(
            f"thresholds '{path}' do not exist; write them with tools/tune_thresholds.py"
        )
    # As a path, so that a file with a number as its name is not taken for that number.
    return threshold_vector(str(path.absolute()), names), json.loads(path.read_bytes())


def threshold_sections(
    names: Sequence[str],
    thresholds: np.ndarray,
    record: Mapping[str, Any],
    predictions: Predictions | None,
) -> list[Section]:
    """Make the tables of thresholds and of what they bring.

    Args:
        names: The K class names.
        thresholds: For each class (K,).
        record: As :func:`read_thresholds` returns it.
        predictions: To count F1 on, if there are some.
    """
    sections = [_by_class(names, thresholds, record, predictions)]
    held_out = record.get('held_out')
    if isinstance(held_out, dict) and isinstance(held_out.get('measures'), dict):
        sections.append(_held_out(held_out['measures'], held_out.get('folds')))
    return sections


def _by_class(
    names: Sequence[str],
    thresholds: np.ndarray,
    record: Mapping[str, Any],
    predictions: Predictions | None,
) -> Section:
    columns = ['class', 'threshold', 'remark']
    text = []
    if predictions is not None:
        columns[2:2] = ['F1 at 0.5', 'F1 at threshold']
        text.append(
            'F1 in percent on the predictions of this report. If the thresholds were tuned on the '
            'same images, the second is too good; measures on held-out images are more honest.'
        )
    rows = []
    half = np.full(len(names), 0.5)
    for index, name in enumerate(names):
        row = [printable(name), number(float(thresholds[index]), 4)]
        if predictions is not None:
            row += [percent(class_f1(predictions, cut, index)[2]) for cut in (half, thresholds)]
        rows.append([*row, _remark(record, name, index)])
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return Section('Thresholds', text, columns=columns, rows=rows)


def _remark(record: Mapping[str, Any], name: str, index: int) -> str:
    """A file that was tuned without names has numbers for them."""
    thresholds = record.get('thresholds')
    keys = {name, str(index)} if isinstance(thresholds, dict) and name not in thresholds else {name}
    found = []
    for key, remark in _REMARKS.items():
        listed = record.get(key)
        if isinstance(listed, list) and keys & set(map(str, listed)):
            found.append(remark)
    return '; '.join(found)


def _held_out(measures: Mapping[str, Any], folds: Any) -> Section:
    rows = []
    for key, title in _ROWS.items():
        values = measures.get(key)
        cells = values if isinstance(values, dict) else {}
        rows.append([title, *(_cell(cells.get(name)) for name in _MEASURES)])
    text = (
        f'In percent, on images held out in turn ({folds} folds), as the file of thresholds says.'
    )
    return Section('What thresholds bring', [text], columns=['rule', *_MEASURES], rows=rows)


def _cell(value: Any) -> str:
    return percent(value, 2) if isinstance(value, int | float) else DASH
