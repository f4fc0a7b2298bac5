"""Texts for error messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ['some']


def some(items: Iterable[Any], limit: int = 5) -> str:
    """Join the first few items by commas."""
    names = [str(item) for item in items]
    return ', '.join(names[:limit]) + (', ...' if len(names) > limit else '')
