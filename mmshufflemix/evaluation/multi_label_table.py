"""Text table and files of a multi-label evaluation."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mmshufflemix.files import write_json, write_text
from mmshufflemix.text import printable

__all__ = ['class_rows', 'format_rows', 'plain_cell', 'write_report']

_FORMULA = re.compile(r'(^|[;\t\r\n])(?=[=+\-@\t\r\n])')
_COLUMNS = ('class', 'positives', 'difficult', 'AP')


def class_rows(
    names: Sequence[str], targets: np.ndarray, difficult: np.ndarray, aps: np.ndarray
) -> list[dict[str, Any]]:
    """One row per class: name, numbers of positives and of difficult cells, AP.

    Args:
        names: K class names.
        targets: Booleans of shape (N, K).
        difficult: Booleans of shape (N, K).
        aps: AP in percent, shape (K,); NaN (undefined) becomes None.
    """
    return [
        {
            'class': name,
            'positives': int(targets[:, index].sum()),
            'difficult': int(difficult[:, index].sum()),
            'AP': None if np.isnan(aps[index]) else float(aps[index]),
        }
        for index, name in enumerate(names)
    ]


def format_rows(rows: Sequence[Mapping[str, Any]]) -> str:
    """Align the rows of :func:`class_rows` under a header; an AP of None is shown as ``-``."""
    names = [printable(row['class']) for row in rows]
    width = max(len('class'), *map(len, names))
    lines = [f'{"class":<{width}}  positives  difficult      AP']
    for name, row in zip(names, rows, strict=True):
        ap = '-' if row['AP'] is None else f'{row["AP"]:.2f}'
        lines.append(f'{name:<{width}}  {row["positives"]:>9}  {row["difficult"]:>9}  {ap:>6}')
    return '\n'.join(lines)


def plain_cell(text: str) -> str:
    """Put an apostrophe before what a spreadsheet would run as a formula.

    Where semicolons or tabs divide its cells, a formula can also begin inside a text.
    """
    return _FORMULA.sub(r"\1'", text)


def write_report(folder: str | Path, content: Mapping[str, Any]) -> None:
    """Write ``multi_label_report.json`` (all) and ``.csv`` (its ``classes``), replacing old ones.

    Args:
        folder: Made if missing.
        content: Plain data without NaN; ``classes`` holds the rows of :func:`class_rows`.
    """
    table = io.StringIO()
    writer = csv.writer(table, lineterminator='\n')
    writer.writerow(_COLUMNS)
    for row in content['classes']:
        writer.writerow([plain_cell(row['class']), *(row[name] for name in _COLUMNS[1:])])
    path = Path(folder)
    write_text(path / 'multi_label_report.csv', table.getvalue())
    write_json(path / 'multi_label_report.json', dict(content))
