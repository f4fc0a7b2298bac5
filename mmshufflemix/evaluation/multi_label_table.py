"""Text table and files of a multi-label evaluation."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mmshufflemix.files import write_json, write_text

__all__ = ['class_rows', 'format_rows', 'plain_cell', 'write_report']

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
    width = max(len('class'), *(len(row['class']) for row in rows))
    lines = [f'{"class":<{width}}  positives  difficult      AP']
    for row in rows:
        ap = '-' if row['AP'] is None else f'{row["AP"]:.2f}'
        lines.append(
            f'{row["class"]:<{width}}  {row["positives"]:>9}  {row["difficult"]:>9}  {ap:>6}'
        )
    return '\n'.join(lines)


def plain_cell(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would run as a formula."""
    return f"'{text}" if text.startswith(('=', '+', '-', '@', '\t', '\r')) else text


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
