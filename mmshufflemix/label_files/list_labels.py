"""Labels from a text list: a line for each picture."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from mmshufflemix.inference.sources import PICTURE_ENDINGS
from mmshufflemix.label_files.cell_values import (
    SEPARATORS,
    check_no_flags,
    is_number,
    looks_like_list,
    read_list,
    split_numbers,
)
from mmshufflemix.label_files.table import LabelRow, LabelTable, read_lines, unique
from mmshufflemix.text import some

__all__ = ['read_list_labels']

_COMMENT = re.compile(r'(^|\s)#.*')
# Not the colon of a Windows path.
_WITH_COLON = re.compile(r'(?P<name>[^:]+):(?![\\/])(?P<labels>.*)')
_SEPARATOR = re.compile(f'[{SEPARATORS}]')
_WITH_SIGN = re.compile(
    rf'(?P<name>[^{SEPARATORS}]+(?:{"|".join(map(re.escape, PICTURE_ENDINGS))}))\s*'
    rf'(?P<labels>[{SEPARATORS}].*)',
    re.IGNORECASE,
)


def read_list_labels(path: str | Path, classes: Sequence[str] | None = None) -> LabelTable:
    """Read ``name label label ...`` or ``name: label, label`` lines.

    In the first form names and labels have no spaces. In the second they may, and labels are
    divided by comma, semicolon or bar. One of these may also stand for the colon after a name with
    its ending. Numbers are divided by spaces too. ``#`` at the start of a line or after a space
    begins a comment.

    Args:
        path: The file.
        classes: The classes, where they are given.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is not UTF-8, has no line with a picture, a line could be divided in
            several ways or holds a given class with spaces in the first form, or all lines have as
            many values of 0 and 1.
    """
    rows, values, spaced = [], [], []
    for number, line in enumerate(read_lines(path), start=1):
        text = _COMMENT.sub('', line).strip()
        if not text:
            continue
        where = f"line {number} of '{path}'"
        name, rest, colon = _divide(text, where)
        words = _labels(rest, where, colon)
        rows.append(LabelRow(name, unique(words), where))
        values.append(words)
        if not colon and words == rest.split():
            _check_known(words, classes or (), where)
            spaced.append(rows[-1])
    if not rows:
        raise ValueError(f"'{path}' has only comments, expected lines such as 1.jpg: cat, dog")
    try:
        check_no_flags(values)
    except ValueError as error:
        raise ValueError(f"in '{path}' {error}") from error
    return LabelTable(rows, notes=_never_apart(spaced, rows) if classes is None else ())


def _divide(text: str, where: str) -> tuple[str, str, bool]:
    """Return the name of the picture, the text of the labels, and whether a colon divides them."""
    match = _WITH_COLON.fullmatch(text)
    if match:
        return match['name'].strip(), match['labels'].strip(), True
    match = _WITH_SIGN.fullmatch(text)
    if match:
        return match['name'].strip(), match['labels'], False
    name, *rest = text.split(maxsplit=1)
    if _SEPARATOR.search(name) and not name.lower().endswith(PICTURE_ENDINGS):
        raise ValueError(
            f'{where} begins with {name!r}, expected the name of a picture; write the line as '
            'name: label, label, or choose --format csv if the file has a header'
        )
    return name, ''.join(rest), False


def _labels(text: str, where: str, colon: bool) -> list[str]:
    """Divide labels, with repetitions."""
    listed = text.lstrip(f'{SEPARATORS} ')
    found = split_numbers(text) or read_list(listed)
    if found is not None:
        return found
    if looks_like_list(listed):
        raise ValueError(
            f'{where} has {listed!r}, which is no list of quoted names; write the line as name: '
            'label, label'
        )
    pieces = _SEPARATOR.split(text)
    if colon:
        return pieces
    whole = next((piece.strip() for piece in pieces if len(piece.split()) > 1), None)
    if len(pieces) > 1 and whole:
        raise ValueError(
            f'{where} divides labels by commas and by spaces, so {whole!r} may be one class or '
            f'{len(whole.split())}; write the line as name: label, label'
        )
    return text.split() if len(pieces) == 1 else pieces


def _check_known(words: Sequence[str], known: Sequence[str], where: str) -> None:
    line = f' {" ".join(words)} '
    whole = next((name for name in known if ' ' in name and f' {name} ' in line), None)
    if whole:
        raise ValueError(
            f'{where} is divided by spaces, but {whole!r} is one of --classes; write the line as '
            'name: label, label'
        )


def _never_apart(spaced: Sequence[LabelRow], rows: Sequence[LabelRow]) -> tuple[str, ...]:
    """Say which neighbours at a space never occur apart: it may be part of one name."""
    words = Counter(label for row in rows for label in row.labels)
    pairs = Counter(pair for row in spaced for pair in pairwise(row.labels))
    found = [
        repr(' '.join(pair))
        for pair, count in pairs.items()
        if count == words[pair[0]] == words[pair[1]] > 1 and not all(map(is_number, pair))
    ]
    if not found:
        return ()
    return (
        f'labels that never occur apart: {some(found, 3)}; if the words are one name, write the '
        'lines as name: label, label',
    )
