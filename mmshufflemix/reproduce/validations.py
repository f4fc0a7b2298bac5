"""Read the measures of all validations of a run from what MMEngine logged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ['read_validations']

_TIMES = {'step', 'time', 'data_time'}


def read_validations(work_dir: Path) -> dict[int, dict[str, float]]:
    """Read ``<time>/vis_data/scalars.json`` of all starts of a training.

    Where an epoch was validated twice, after a stop, the later start counts. A line that a killed
    process left unfinished is passed over.

    Returns:
        The scalar measures by epoch, in ascending order.
    """
    found: dict[int, dict[str, float]] = {}
    for path in sorted(work_dir.glob('*/vis_data/scalars.json')):
        for line in path.read_text(errors='replace').splitlines():
            record = _parse(line)
            # Lines of training steps have the epoch too.
            if not isinstance(record.get('step'), int) or 'epoch' in record:
                continue
            measures = {
                key: float(value)
                for key, value in record.items()
                if key not in _TIMES and isinstance(value, int | float)
            }
            if measures:
                found[record['step']] = measures
    return dict(sorted(found.items()))


def _parse(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}
