"""The file of predictions that ``tools/test.py --out`` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mmshufflemix.json_reading import parse_json

__all__ = ['read_records']


def read_records(path: str | Path) -> list[dict[str, Any]]:
    """Read a file of ``tools/test.py --out``.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it holds something else.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"predictions '{path}' do not exist; write them with tools/test.py --out FILE.json"
        )
    try:
        records = parse_json(path.read_bytes())
    except ValueError as error:
        raise ValueError(
            f"'{path}' is not a JSON file; write it with tools/test.py --out FILE.json"
        ) from error
    if not isinstance(records, list) or not records or not all(map(_is_record, records)):
        raise ValueError(
            f"'{path}' is not a list of predictions with pred_score; write it with tools/test.py "
            '--out FILE.json (not with --out-item metrics)'
        )
    return records


def _is_record(record: Any) -> bool:
    return isinstance(record, dict) and isinstance(record.get('pred_score'), list)
