"""Texts for messages and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ['align_table', 'printable', 'repeated', 'shorten', 'some']

_JOINERS = '\u200c\u200d'
"""Letters of Persian and Indian scripts need them."""


def align_table(lines: Sequence[Sequence[str]]) -> str:
    """Align the cells of equally long lines: the first column to the left, the others right."""
    lines = [[printable(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return '\n'.join(
        line[0].ljust(widths[0])
        + ''.join(f'  {cell:>{width}}' for cell, width in zip(line[1:], widths[1:], strict=True))
        for line in lines
    )


def printable(text: str) -> str:
    """Put text from a file on one line, without characters that steer a terminal."""
    one_line = ' '.join(text.split())
    return ''.join(c if c.isprintable() or c in _JOINERS else '?' for c in one_line)


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, sorted."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def shorten(text: str, length: int) -> str:
    """Cut a text that is longer, and say so by three dots."""
    return text if len(text) <= length else f'{text[: length - 3]}...'


def some(items: Iterable[Any], limit: int = 5) -> str:
    """Join the first few items by commas."""
    names = [str(item) for item in items]
    return ', '.join(names[:limit]) + (', ...' if len(names) > limit else '')
