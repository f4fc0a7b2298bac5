"""Read the cells of a CSV file, whatever its delimiter."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmshufflemix.inference.sources import PICTURE_ENDINGS
from mmshufflemix.label_files.table import read_lines
from mmshufflemix.text import repeated, some

__all__ = ['CsvCells', 'read_cells']

_DELIMITERS = (',', ';', '\t')
_EXCEL_HINT = re.compile(r'"?sep=.?"?')


@dataclass(frozen=True)
class CsvCells:
    """A CSV file.

    Attributes:
        path: The file.
        header: Distinct, trimmed column names.
        rows: For each row its place, for messages, and as many trimmed cells as columns.
    """

    path: str
    header: list[str]
    rows: list[tuple[str, list[str]]]

    def column(self, index: int) -> list[str]:
        """Return the cells of a column."""
        return [cells[index] for _, cells in self.rows]


def read_cells(path: str | Path) -> CsvCells:
    """Read a CSV file with a header row; blank rows and wholly blank columns are left out.

    The delimiter is that of comma, semicolon and tab which gives the first row the most cells,
    and rather one that gives all rows as many, since a quoted name may hold the others.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is not UTF-8, has no header or no row, the rows are not all as long as
            the header, a quote is not closed, or column names are blank or repeated.
    """
    lines = read_lines(path)
    if _EXCEL_HINT.fullmatch(lines[0].strip()) and any(line.strip() for line in lines[1:]):
        lines[0] = ''
    delimiter = max(_DELIMITERS, key=lambda sign: (_fits(lines, sign), _width(lines, sign)))
    (_, header), *rows = _parse(lines, delimiter, path)
    while header and not header[-1]:
        header.pop()
    rows = [(where, _fit(cells, len(header), where)) for where, cells in rows]
    kept = [
        index for index, name in enumerate(header) if name or any(cells[index] for _, cells in rows)
    ]
    header = [header[index] for index in kept]
    rows = [(where, [cells[index] for index in kept]) for where, cells in rows]
    _check_header(header, path)
    if not rows:
        raise ValueError(f"'{path}' has a header but no row, expected a row for each picture")
    return CsvCells(str(path), header, rows)


def _reader(lines: Sequence[str], delimiter: str, strict: bool) -> Any:
    start = next(index for index, line in enumerate(lines) if line.strip())
    return csv.reader(
        (f'{line}\n' for line in lines[start:]),
        delimiter=delimiter,
        skipinitialspace=True,
        strict=strict,
    )


def _width(lines: Sequence[str], delimiter: str) -> int:
    """Count the cells of the first row; none where one would be endless."""
    try:
        return len(next(_reader(lines, delimiter, strict=False)))
    except csv.Error:
        return 0


def _fits(lines: Sequence[str], delimiter: str) -> bool:
    """Tell whether a delimiter divides the lines into a table of several columns."""
    try:
        header, *rows = [cells for cells in _reader(lines, delimiter, strict=True) if any(cells)]
    except csv.Error:
        return False
    # A delimiter that ends every line makes no column.
    width = max((place for place, cell in enumerate(header, 1) if cell.strip()), default=0)
    return width > 1 and all(len(row) >= width and not any(row[width:]) for row in rows)


def _parse(lines: Sequence[str], delimiter: str, path: str | Path) -> list[tuple[str, list[str]]]:
    """Read the rows that are not blank, with their places."""
    reader = _reader(lines, delimiter, strict=True)
    skipped = next(index for index, line in enumerate(lines) if line.strip())
    rows: list[tuple[str, list[str]]] = []
    line = skipped + 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append((f"line {line} of '{path}'", [cell.strip() for cell in cells]))
            line = skipped + reader.line_num + 1
    except csv.Error as error:
        raise ValueError(
            f"'{path}' cannot be read from line {line} on ({error}); look for a quote that is not "
            'closed, or stands inside a cell'
        ) from error
    return rows


def _fit(cells: list[str], width: int, where: str) -> list[str]:
    if len(cells) < width or any(cells[width:]):
        raise ValueError(
            f'{where} has {len(cells)} cells, expected {width} as in the header; put cells that '
            'hold the delimiter into quotes'
        )
    return cells[:width]


def _check_header(header: Sequence[str], path: str | Path) -> None:
    if any(name.lower().endswith(PICTURE_ENDINGS) for name in header):
        raise ValueError(
            f"'{path}' begins with the row of a picture ({some(header, 3)}), expected a header; "
            'add a first row that names the columns, such as image,labels'
        )
    twice = repeated(header)
    if twice:
        raise ValueError(
            f"'{path}' has several columns named {some(map(repr, twice))}; give each column a "
            'name of its own'
        )
    if '' in header:
        raise ValueError(
            f"column {header.index('') + 1} of '{path}' has no name; name it in the header or "
            'delete it'
        )
    if len(header) < 2:
        raise ValueError(
            f"'{path}' has one column ({some(header)}), expected one for the pictures and at "
            'least one for the labels, divided by comma, semicolon or tab'
        )
