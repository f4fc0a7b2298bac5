"""Labels that are written as values: numbers, lists of Python or JSON, and 0 or 1 a class."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

__all__ = [
    'SEPARATORS',
    'check_no_flags',
    'is_number',
    'looks_like_list',
    'read_list',
    'split_numbers',
]

SEPARATORS = ';|,'
"""Signs that divide labels, the one that is rarest in a name first."""

_ESCAPE = r'\\(?:[\'"\\]|u[\da-fA-F]{4}|x[\da-fA-F]{2})'
_STRING = rf"'(?:[^'\\\n]|{_ESCAPE})*'|\"(?:[^\"\\\n]|{_ESCAPE})*\""
_ITEM = rf'{_STRING}|-?\d+(?:\.\d*)?'
# NumPy writes no commas, so that Python would join the strings between them.
_LIST = re.compile(rf'[\[({{](?:\s*(?:{_ITEM})(?:[\s,]+(?:{_ITEM}))*)?[\s,]*[\])}}]')
_LIKE_LIST = re.compile(r'\[(?:.*[,\'"].*)?\]', re.DOTALL)


def is_number(word: str) -> bool:
    """Tell whether a word has digits only."""
    return word.isdecimal()


def split_numbers(text: str) -> list[str] | None:
    """Divide a text of numbers by spaces and signs; None for any other text."""
    words = [word for word in re.split(rf'[\s{SEPARATORS}]+', text) if word]
    return words if words and all(map(is_number, words)) else None


def read_list(text: str) -> list[str] | None:
    """Read a list, tuple, set or NumPy array of quoted names or numbers; None for any other text.

    Nothing in the text is run.
    """
    if not _LIST.fullmatch(text):
        return None
    return [
        str(ast.literal_eval(item)) if item[0] in '\'"' else re.sub(r'\.0*$', '', item)
        for item in re.findall(_ITEM, text)
    ]


def looks_like_list(text: str) -> bool:
    """Tell whether a text is square brackets with commas or quotes, or nothing, between them."""
    return _LIKE_LIST.fullmatch(text) is not None


def check_no_flags(pictures: Sequence[Sequence[str]]) -> None:
    """Check that the labels of the pictures, with repetitions, are no 0 or 1 for each class.

    Raises:
        ValueError: If all have as many values of 0 and 1. A class 0 and a class 1 in each picture
            are let through where they are always written in this order.
    """
    counts = {len(labels) for labels in pictures}
    if len(counts) != 1 or min(counts) < 2 or not all(set(p) <= {'0', '1'} for p in pictures):
        return
    if any(tuple(labels) != ('0', '1') for labels in pictures):
        raise ValueError(
            f'each picture has {counts.pop()} values of 0 and 1, which are probably one for each '
            'class; write a CSV file with a header that names the classes, such as image,cat,dog, '
            'and a column for each'
        )
