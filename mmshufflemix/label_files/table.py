"""What every reader of labels returns, and what the readers share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ['LabelRow', 'LabelTable', 'read_lines', 'unique']


@dataclass(frozen=True)
class LabelRow:
    """One picture's labels as a file states them.

    Attributes:
        name: Name of the picture, as it is written.
        labels: Distinct class names.
        where: Place in the source, for messages.
        difficult: Names of the classes that occur only as difficult objects.
    """

    name: str
    labels: tuple[str, ...]
    where: str
    difficult: tuple[str, ...] = ()


@dataclass(frozen=True)
class LabelTable:
    """The rows of a source.

    Attributes:
        rows: In the order of the source.
        classes: Class names where the source itself lists them in an order.
        notes: Sentences about choices that the reader made.
    """

    rows: Sequence[LabelRow]
    classes: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


def read_lines(path: str | Path) -> list[str]:
    """Read the lines of a UTF-8 text, with or without byte order mark, without their ends.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is not UTF-8 or holds nothing but blanks.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"the file '{path}' does not exist; check its name")
    try:
        text = path.read_bytes().decode('utf-8-sig')
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b'\n') + 1
        raise ValueError(
            f"line {line} of '{path}' is not UTF-8 text; save the file as UTF-8 (in a spreadsheet: "
            '"CSV UTF-8")'
        ) from error
    if not text.strip():
        raise ValueError(f"'{path}' is empty, expected a line for each picture; check its name")
    # Not splitlines, which also cuts at separators that a cell may hold.
    return text.replace('\r\n', '\n').replace('\r', '\n').split('\n')


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """Trim names, and drop blank ones and repetitions."""
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
