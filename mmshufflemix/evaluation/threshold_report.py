"""From a file of predictions to tuned thresholds, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from mmshufflemix.evaluation.multi_label_sample import read_sample, stack_samples
from mmshufflemix.evaluation.predictions_file import read_records
from mmshufflemix.evaluation.thresholds import (
    Tuned,
    TuningRule,
    held_out_measures,
    tune_thresholds,
)
from mmshufflemix.text import printable

__all__ = ['format_held_out', 'format_thresholds', 'read_predictions', 'threshold_record']

_MEASURES = ('CP', 'CR', 'CF1', 'OP', 'OR', 'OF1')
_ROWS = {'0.5': 'threshold 0.5', 'shared': 'one tuned', 'per class': 'tuned by class'}


def read_predictions(
    path: str | Path, names: Sequence[str] | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Read the JSON file that ``tools/test.py --out`` writes for multi-label data.

    Args:
        path: The file.
        names: The K class names; the file has none. Default: ``'0'``, ``'1'`` and so on.

    Returns:
        Scores, targets and valid (not difficult) cells, each (N, K), and the K names.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is no such file, has no image, or a record cannot be used (see
            :func:`~mmshufflemix.evaluation.multi_label_sample.read_sample`).
    """
    records = read_records(path)
    names = list(names or map(str, range(len(records[0]['pred_score']))))
    cells = []
    for index, record in enumerate(records):
        where = str(record.get('img_path') or f'record {index}')
        cells.append(read_sample(record, where, names))
    scores, targets, difficult = stack_samples(cells)
    if not np.isfinite(scores).all():
        raise ValueError(f"'{path}' has infinite scores, expected those of tools/test.py --out")
    return scores.astype(np.float64), targets, ~difficult, names


def threshold_record(
    scores: np.ndarray,
    targets: np.ndarray,
    valid: np.ndarray,
    names: Sequence[str],
    rule: TuningRule,
    folds: int = 5,
    seed: int = 0,
) -> dict[str, Any]:
    """Tune, measure on held-out folds, and put all of it into plain data.

    Args:
        scores: Scores (N, K) without NaN.
        targets: 0/1 or boolean targets (N, K).
        valid: Booleans (N, K), False for cells to leave out.
        names: The K class names.
        rule: How thresholds are chosen.
        folds: For the measures on held-out images; 0 leaves them out.
        seed: Of the folds.

    Returns:
        ``thresholds`` by class name, which ``tools/predict.py --threshold`` takes, and how they
        came about.

    Raises:
        ValueError: See :func:`~mmshufflemix.evaluation.thresholds.tune_thresholds`.
    """
    tuned = tune_thresholds(scores, targets, valid, rule)
    held_out = held_out_measures(scores, targets, valid, rule, folds, seed) if folds else None
    return {
        'thresholds': dict(zip(names, tuned.thresholds.tolist(), strict=True)),
        'rule': asdict(rule),
        'shared_threshold': tuned.shared,
        'images': len(scores),
        'positives': dict(zip(names, (targets & valid).sum(axis=0).tolist(), strict=True)),
        **_marked(names, tuned),
        'held_out': held_out and {'folds': folds, 'seed': seed, 'measures': held_out},
    }


def format_thresholds(record: Mapping[str, Any]) -> str:
    """Align the thresholds of a :func:`threshold_record` under a header, one class a line."""
    thresholds = record['thresholds']
    shown = {name: printable(name) for name in thresholds}
    width = max(len('class'), *map(len, shown.values()))
    lines = [f'{"class":<{width}}  positives  threshold']
    for name, threshold in thresholds.items():
        note = '  (shared: too few positives)' if name in record['shared'] else ''
        if name in record['precision_not_reached']:
            note = '  (precision not reached)'
        lines.append(
            f'{shown[name]:<{width}}  {record["positives"][name]:>9}  {threshold:>9.4f}{note}'
        )
    return '\n'.join(lines)


def format_held_out(record: Mapping[str, Any]) -> str:
    """Align the measures of a :func:`threshold_record` in percent, with the gain last."""
    measures = record['held_out']['measures']
    rows = {title: measures[name] for name, title in _ROWS.items()}
    gain = {key: measures['per class'][key] - measures['0.5'][key] for key in _MEASURES}
    lines = [' ' * 15 + ''.join(f'{key:>8}' for key in _MEASURES)]
    for title, row in rows.items():
        lines.append(f'{title:<15}' + ''.join(f'{100 * row[key]:>8.2f}' for key in _MEASURES))
    lines.append(f'{"gain":<15}' + ''.join(f'{100 * gain[key]:>+8.2f}' for key in _MEASURES))
    return '\n'.join(lines)


def _marked(names: Sequence[str], tuned: Tuned) -> dict[str, list[str]]:
    pairs = list(zip(names, tuned.own, tuned.reached, strict=True))
    return {
        'shared': [name for name, own, _ in pairs if not own],
        'precision_not_reached': [name for name, _, reached in pairs if not reached],
    }
