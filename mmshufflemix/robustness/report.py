"""The outcome of a robustness study as a table, and read from a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mmshufflemix.json_reading import parse_json

__all__ = ['curve_names', 'format_table', 'read_record']

_NUMBER = int | float
_TYPES: dict[str, Any] = {'metric': str, 'clean': _NUMBER, 'results': list}
_RESULT_TYPES: dict[str, Any] = {
    'noise': str,
    'level': _NUMBER,
    'mode': str | None,
    'mean': _NUMBER,
    'std': _NUMBER | None,
}


def format_table(record: dict[str, Any]) -> str:
    """Format what ``run_study`` returns as a Markdown table: mean and sample standard deviation."""
    lines = [
        f'| noise | level | {record["metric"]} |',
        '|---|---|---|',
        f'| none | 0 | {record["clean"]:.2f} |',
    ]
    for result in record['results']:
        noise = result['noise'].replace('_', ' & ')
        mode = f' ({result["mode"]})' if result['mode'] else ''
        spread = '' if result['std'] is None else f' ± {result["std"]:.2f}'
        lines.append(f'| {noise}{mode} | {result["level"]:g} | {result["mean"]:.2f}{spread} |')
    return '\n'.join(lines)


def read_record(path: str | Path) -> dict[str, Any]:
    """Read a study that was written as JSON.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is not a study.
    """
    try:
        record = parse_json(Path(path).read_bytes())
    except ValueError as error:
        raise ValueError(f'{path} is not JSON ({error}); give a file that --out wrote') from error
    if not _has(record, _TYPES) or not _can_be_drawn(record):
        raise ValueError(
            f'{path} is no robustness study (expected {", ".join(sorted(_TYPES))} in it); give a '
            'file that --out wrote'
        )
    for place, result in enumerate(record['results']):
        if not _has(result, _RESULT_TYPES) or not _can_be_drawn(result):
            raise ValueError(
                f'entry {place} of the results in {path} is not one of a robustness study '
                f'(expected {", ".join(_RESULT_TYPES)}); give a file that --out wrote'
            )
    return record


def curve_names(paths: Sequence[str | Path]) -> list[str]:
    """Name the curves by their files: the stem, with as many folders as tell equal stems apart.

    Raises:
        ValueError: If two files cannot be told apart.
    """
    parts = [Path(os.path.abspath(path)).with_suffix('').parts for path in paths]
    names = []
    for path, mine in zip(paths, parts, strict=True):
        ends = (mine[-depth:] for depth in range(1, len(mine) + 1))
        end = next((e for e in ends if sum(p[-len(e) :] == e for p in parts) == 1), None)
        if end is None:
            raise ValueError(f'{path} is given twice, give each once or name them by --labels')
        names.append('/'.join(end))
    return names


def _can_be_drawn(record: dict[str, Any]) -> bool:
    """Tell whether whole numbers are below the largest float and deviations not negative."""
    numbers = [value for value in record.values() if isinstance(value, int)]
    return all(abs(number) < 1e300 for number in numbers) and not (record.get('std') or 0) < 0


def _has(record: Any, types: dict[str, Any]) -> bool:
    return isinstance(record, dict) and all(
        key in record and isinstance(record[key], wanted) for key, wanted in types.items()
    )
