"""Read what MMEngine logged while it trained."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ['is_training', 'measures_of', 'read_starts', 'read_validations']

_NO_MEASURES = {'step', 'time', 'data_time'}


def read_starts(work_dir: Path) -> dict[str, list[dict[str, Any]]]:
    """Read ``<time>/vis_data/scalars.json`` of all starts of a training.

    Where a start has no such file, its copy ``<time>.json`` beside it is read. Lines that a killed
    process left unfinished are passed over.

    Returns:
        The records by the name of the start's folder, which is its time, in that order. Starts
        without a record, such as those of tests, are left out.
    """
    starts = {}
    for folder in sorted(path for path in work_dir.glob('*/vis_data') if path.is_dir()):
        name = folder.parent.name
        files = [folder / 'scalars.json', folder / f'{name}.json']
        path = next((path for path in files if path.is_file()), None)
        lines = path.read_text(errors='replace').splitlines() if path else []
        records = [record for record in map(_parse, lines) if isinstance(record.get('step'), int)]
        if records:
            starts[name] = records
    return starts


def is_training(record: Mapping[str, Any]) -> bool:
    """Tell the record of training steps from that of a validation."""
    return 'epoch' in record or 'iter' in record


def measures_of(record: Mapping[str, Any]) -> dict[str, float]:
    """Return the scalar measures of a record, times left out."""
    return {
        key: float(value)
        for key, value in record.items()
        if key not in _NO_MEASURES and isinstance(value, int | float)
    }


def read_validations(work_dir: Path) -> dict[int, dict[str, float]]:
    """Read the measures of all validations of a run.

    Where an epoch was validated twice, after a stop, the later start counts.

    Returns:
        The scalar measures by epoch, in ascending order.
    """
    found: dict[int, dict[str, float]] = {}
    for records in read_starts(work_dir).values():
        for record in records:
            measures = measures_of(record)
            if measures and not is_training(record):
                found[record['step']] = measures
    return dict(sorted(found.items()))


def _parse(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}
