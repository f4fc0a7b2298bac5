"""Which classes there are, and in which order."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from mmshufflemix.class_names import check_class_names
from mmshufflemix.label_files.table import LabelRow, LabelTable, read_lines
from mmshufflemix.near_names import closest
from mmshufflemix.text import some

__all__ = ['check_tellable', 'choose_classes', 'describe_near', 'read_class_names']

# A name that was misspelt is much rarer than the right one; classes that are alike need not be.
_RARER = 4
# Each is compared with each.
_MOST_NAMES = 2000


def read_class_names(values: Sequence[str]) -> tuple[str, ...]:
    """Return names as they are, or those of a file, one a line, if one existing file is named.

    Raises:
        ValueError: If names repeat or cannot be told apart, or the file holds none.
    """
    names = list(values)
    if len(names) == 1 and Path(names[0]).is_file():
        names = [line.strip() for line in read_lines(names[0]) if line.strip()]
    check_tellable(names)
    return check_class_names(names)


def choose_classes(table: LabelTable, given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the classes in the order given, else in the source's, else sorted.

    Raises:
        ValueError: If a row has a class that was not given, there is no class, or two names
            cannot be told apart.
    """
    used = {name for row in table.rows for name in (*row.labels, *row.difficult)}
    listed = given if given is not None else table.classes
    check_tellable([*(listed or ()), *sorted(used)])
    if listed is None:
        listed = sorted(used)
    unknown = _first_unknown(table.rows, set(listed))
    if unknown:
        name, row = unknown
        raise ValueError(
            f'{row.where} has the class {name!r}, expected one of {some(listed)}; correct it or '
            'add it to --classes'
        )
    if not listed:
        raise ValueError(
            f'none of the {len(table.rows)} pictures has a label, so there are no classes; name '
            'them by --classes'
        )
    return check_class_names(list(listed))


def check_tellable(names: Iterable[str]) -> None:
    """Check that class names differ by more than case and spaces and can be printed.

    Raises:
        ValueError: Naming two such names, or one that is blank or has control characters.
    """
    seen: dict[str, str] = {}
    for name in names:
        key = unicodedata.normalize('NFC', ''.join(name.casefold().split()))
        if not key or not name.isprintable():
            raise ValueError(
                f'the class name {name!r} is blank or has characters that cannot be printed; '
                'rename the class'
            )
        other = seen.setdefault(key, name)
        if other != name:
            raise ValueError(
                f'the class names {other!r} and {name!r} differ only by case or spaces, or by how '
                'accents are stored; write them alike, or give one of them another name'
            )


def describe_near(rows: Iterable[LabelRow]) -> tuple[str, ...]:
    """Say which rare class is like a frequent one, so that it may be misspelt; nothing if none.

    Names that differ in their digits, or in length by more than a letter, are taken as meant.
    """
    counts = Counter(name for row in rows for name in row.labels)
    if len(counts) > _MOST_NAMES:
        return ()
    digits = {name: re.sub(r'\D', '', name) for name in counts}
    found = []
    for name, count in sorted(counts.items()):
        others = [
            other
            for other, larger in counts.items()
            if larger >= _RARER * count
            and digits[other] == digits[name]
            and abs(len(other) - len(name)) < 2
        ]
        if meant := closest(name, others):
            pictures = f'{count} picture{"" if count == 1 else "s"}'
            found.append(f'{name!r} ({pictures}) is like {meant!r} ({counts[meant]})')
    return (f'{some(found, 3)}; if a name is misspelt, correct it',) if found else ()


def _first_unknown(rows: Iterable[LabelRow], known: set[str]) -> tuple[str, LabelRow] | None:
    for row in rows:
        for name in (*row.labels, *row.difficult):
            if name not in known:
                return name, row
    return None
