"""Write predictions as a table, as JSON lines or as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mmshufflemix.evaluation.multi_label_table import plain_cell
from mmshufflemix.files import write_text
from mmshufflemix.text import printable

__all__ = ['check_output', 'format_table', 'write_predictions']

_ENDINGS = ('.jsonl', '.csv')
Predictions = Sequence[tuple[str, Mapping[str, Any]]]


def check_output(path: str | Path) -> None:
    """Check the ending of a file for predictions.

    Raises:
        ValueError: If it is neither ``.jsonl`` nor ``.csv``.
    """
    if Path(path).suffix not in _ENDINGS:
        raise ValueError(
            f"predictions can be written as {' or '.join(_ENDINGS)}, got '{path}'; change its "
            'ending'
        )


def write_predictions(path: str | Path, predictions: Predictions, classes: Sequence[str]) -> None:
    """Write predictions in the format that the file's ending names.

    ``.jsonl`` has an object for each picture: ``path``, ``labels``, ``names``, ``scores`` and
    ``all_scores`` by class name. ``.csv`` has a row for each: ``path``, ``names`` and ``scores``
    joined by ``;``, then the score of every class; texts that a spreadsheet would run as a formula
    begin with an apostrophe there.

    Args:
        path: The file.
        predictions: Pairs of a path and what the inferencer returns for it.
        classes: The K class names.

    Raises:
        ValueError: If the ending is another.
    """
    check_output(path)
    lines = _json_lines if Path(path).suffix == '.jsonl' else _csv_rows
    write_text(path, lines(predictions, classes))


def format_table(predictions: Predictions) -> str:
    """Align paths and their labels under a header; ``-`` stands for no label.

    Where a result has ``reached``, labels below their threshold are marked.
    """
    paths = [printable(path) for path, _ in predictions]
    width = max([len('picture'), *map(len, paths)])
    lines = [f'{"picture":<{width}}  labels']
    for path, (_, result) in zip(paths, predictions, strict=True):
        reached = result.get('reached') or [True] * len(result['names'])
        labels = zip(result['names'], result['scores'], reached, strict=True)
        text = ', '.join(
            f'{printable(name)} {score:.2f}{"" if enough else " (below its threshold)"}'
            for name, score, enough in labels
        )
        lines.append(f'{path:<{width}}  {text or "-"}')
    return '\n'.join(lines)


def _json_lines(predictions: Predictions, classes: Sequence[str]) -> str:
    lines = []
    for path, result in predictions:
        scores = dict(zip(classes, result['all_scores'].tolist(), strict=True))
        lines.append(json.dumps({'path': path, **result, 'all_scores': scores}) + '\n')
    return ''.join(lines)


def _csv_rows(predictions: Predictions, classes: Sequence[str]) -> str:
    table = io.StringIO()
    writer = csv.writer(table, lineterminator='\n')
    writer.writerow(['path', 'names', 'scores', *map(plain_cell, classes)])
    for path, result in predictions:
        names = plain_cell(';'.join(result['names']))
        scores = ';'.join(map(str, result['scores']))
        writer.writerow([plain_cell(path), names, scores, *result['all_scores'].tolist()])
    return table.getvalue()
