"""The outcome of a robustness study as a table, and read from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ['format_table', 'read_record']

_KEYS = {'metric', 'clean', 'results'}


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
        record = json.loads(Path(path).read_text())
    except ValueError as error:
        raise ValueError(f'{path} is not JSON ({error}); give a file that --out wrote') from error
    if not isinstance(record, dict) or not record.keys() >= _KEYS:
        raise ValueError(
            f'{path} is no robustness study (expected {", ".join(sorted(_KEYS))} in it); give a '
            'file that --out wrote'
        )
    return record
