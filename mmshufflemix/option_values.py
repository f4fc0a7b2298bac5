"""Read the values that ``--cfg-options`` gives as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mmengine.config import DictAction

__all__ = ['read_value']

_QUOTED = re.compile(r"""(['"]).*?\1(?=\s*(?:[,)\]]|$))""")


def read_value(text: str) -> Any:
    """Read a value as MMEngine does, but keep the spaces within words.

    ``(...)`` is a tuple, ``[...]`` or ``a, b`` a list, of values of the same kinds. Quotes around a
    value are dropped; commas and brackets within the quotes of an item belong to it.

    Returns:
        A number, switch, None, text, list or tuple.

    Raises:
        ValueError: If the brackets of a list do not match.
    """
    bare = _bare(text)
    if ',' in bare and not _enclosed(bare) and len(items := _split(bare)) > 1:
        return _read_items(items)
    return _read_item(bare)


def _read_item(text: str) -> Any:
    bare = _bare(text)
    if not _enclosed(bare):
        return DictAction._parse_int_float_bool(bare)
    items = _read_items(_split(bare[1:-1]))
    return tuple(items) if bare[0] == '(' else items


def _read_items(texts: list[str]) -> list[Any]:
    # Nothing follows the comma of (1,).
    last = len(texts) - (not texts[-1].strip())
    return [_read_item(text) for text in texts[:last]]


def _bare(text: str) -> str:
    return text.strip().strip('\'"').strip()


def _enclosed(text: str) -> bool:
    """Tell whether the bracket that a text starts with is closed at its end, not before."""
    depths = [depth for _, _, depth in _marks(text)]
    return text[:1] + text[-1:] in ('()', '[]') and depths[-1] == 0 < min([1, *depths[:-1]])


def _split(text: str) -> list[str]:
    """Split a text at commas outside brackets and quotes."""
    marks = list(_marks(text))
    depths = [depth for _, _, depth in marks]
    if depths and (depths[-1] != 0 or min(depths) < 0):
        raise ValueError(f'has brackets that do not match in {text!r}')
    cuts = [place for place, char, depth in marks if char == ',' and depth == 0]
    starts = [0, *(cut + 1 for cut in cuts)]
    return [text[start:end] for start, end in zip(starts, [*cuts, None], strict=True)]


def _marks(text: str) -> Iterator[tuple[int, str, int]]:
    """Commas and brackets outside quotes: place, mark, brackets open then (-1 at a wrong one)."""
    place, opened = 0, ''
    while place < len(text):
        char = text[place]
        # An apostrophe within a word is no quote.
        if char in '\'"' and text[:place].rstrip()[-1:] in ('', ',', '(', '['):
            if quoted := _QUOTED.match(text, place):
                place = quoted.end()
                continue
        if char in '([':
            opened += char
        elif char in ')]':
            fits = opened[-1:] + char in ('()', '[]')
            opened = opened[:-1]
            yield place, char, len(opened) if fits else -1
        if char in ',([':
            yield place, char, len(opened)
        place += 1
