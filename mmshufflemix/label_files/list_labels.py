"""Labels from a text list: a line for each picture."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from mmshufflemix.label_files.table import LabelRow, LabelTable, read_lines, unique

__all__ = ['read_list_labels']

_COMMENT = re.compile(r'(^|\s)#.*')
# Not the colon of a Windows path.
_WITH_COLON = re.compile(r'(?P<name>[^:]+):(?![\\/])(?P<labels>.*)')
_SEPARATOR = re.compile('[,;|]')


def read_list_labels(path: str | Path, classes: Sequence[str] | None = None) -> LabelTable:
    """Read ``name label label ...`` or ``name: label, label`` lines.

    In the first form names and labels have no spaces. In the second they may, and labels are
    divided by comma, semicolon or bar. ``#`` at the start of a line or after a space begins a
    comment.

    Args:
        path: The file.
        classes: The classes, where they are given.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is not UTF-8, has no line with a picture, or labels of the first form
            seem to have spaces.
    """
    rows, divided = [], []
    for number, line in enumerate(read_lines(path), start=1):
        text = _COMMENT.sub('', line).strip()
        if not text:
            continue
        where = f"line {number} of '{path}'"
        match = _WITH_COLON.fullmatch(text)
        if match:
            labels = unique(_SEPARATOR.split(match['labels']))
            rows.append(LabelRow(match['name'].strip(), labels, where))
        else:
            name, *rest = text.split(maxsplit=1)
            rows.append(LabelRow(name, unique(_words(''.join(rest), where)), where))
            divided.append(rows[-1])
    if not rows:
        raise ValueError(f"'{path}' has only comments, expected lines such as 1.jpg: cat, dog")
    _check_apart(divided, classes or ())
    return LabelTable(rows)


def _words(text: str, where: str) -> list[str]:
    pieces = _SEPARATOR.split(text)
    spaced = next((piece.strip() for piece in pieces if len(piece.split()) > 1), None)
    if len(pieces) > 1 and spaced:
        raise ValueError(
            f'{where} divides labels by commas and by spaces, so {spaced!r} may be one class or '
            f'{len(spaced.split())}; write the line as name: label, label'
        )
    return text.split() if len(pieces) == 1 else pieces


def _check_apart(rows: Sequence[LabelRow], known: Sequence[str]) -> None:
    """Refuse neighbours that never occur apart: the space may be part of one name."""
    words = Counter(label for row in rows for label in row.labels)
    pairs = Counter(pair for row in rows for pair in pairwise(row.labels))
    for (first, second), count in pairs.items():
        if count == words[first] == words[second] > 1 and not {first, second} <= set(known):
            where = next(row.where for row in rows if first in row.labels)
            raise ValueError(
                f"'{first} {second}' in {where} may be one class, since the two never occur apart; "
                'write lines as name: label, label to keep names whole, or name all classes by '
                '--classes'
            )
