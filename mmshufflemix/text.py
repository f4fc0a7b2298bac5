"""Texts for messages and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ['align_table', 'some']


def align_table(lines: Sequence[Sequence[str]]) -> str:
    """Align the cells of equally long lines: the first column to the left, the others right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return '\n'.join(
        line[0].ljust(widths[0])
        + ''.join(f'  {cell:>{width}}' for cell, width in zip(line[1:], widths[1:], strict=True))
        for line in lines
    )


def some(items: Iterable[Any], limit: int = 5) -> str:
    """Join the first few items by commas."""
    names = [str(item) for item in items]
    return ', '.join(names[:limit]) + (', ...' if len(names) > limit else '')
