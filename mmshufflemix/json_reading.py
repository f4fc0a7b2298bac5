"""Read JSON that may come from anybody."""

from __future__ import annotations

import json
from typing import Any

from mmshufflemix.text import repeated, some

__all__ = ['parse_json']


def parse_json(content: str | bytes, unique_keys: bool = False) -> Any:
    """Read JSON of any origin.

    Args:
        content: The text.
        unique_keys: Whether an object that has a key twice is refused; else the last one counts.

    Raises:
        ValueError: If it is not JSON, has a key twice, or is nested hundreds of levels deep.
    """
    try:
        return json.loads(content, object_pairs_hook=_without_repeats if unique_keys else None)
    except RecursionError as error:
        raise ValueError('it is nested too deeply') from error


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = repeated(key for key, _ in pairs)
    if keys:
        raise ValueError(f'an object has several entries of {some(keys)}')
    return dict(pairs)
