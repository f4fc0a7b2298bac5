"""Labels from a CSV file: a 0/1 column for each class, or names in one cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from mmshufflemix.label_files.csv_file import CsvCells, read_cells
from mmshufflemix.label_files.separators import split_names
from mmshufflemix.label_files.table import LabelRow, LabelTable
from mmshufflemix.text import some

__all__ = ['read_csv_labels']

_IMAGE_COLUMN = re.compile(
    r'(image|img|picture|photo|file)(s|name|file|path|id)?|filepath|path', re.IGNORECASE
)
_LABEL_COLUMN = re.compile(r'(labels?|tags?|class(es)?|category|categories)', re.IGNORECASE)
_YES = {'1', 'true', 'yes'}
_NO = {'', '0', 'false', 'no'}


def read_csv_labels(
    path: str | Path,
    image_column: str | None = None,
    label_column: str | None = None,
    separator: str | None = None,
    classes: Sequence[str] | None = None,
) -> LabelTable:
    """Read the labels of a CSV file.

    The column of the pictures is the only one with a name such as image, file or path, else the
    first. A column of names is the one given, the only other column unless it holds numbers, or
    the only one called label(s), tag(s), class(es), category or categories. In all other cases each
    other column is a class.

    Args:
        path: The file.
        image_column: Name of the column of the pictures.
        label_column: Name of a column with class names.
        separator: What divides the names in a cell, see
            :func:`~mmshufflemix.label_files.separators.split_names`.
        classes: The classes that 0/1 columns must have, and names that are not divided.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the file is malformed, a column is unknown, a cell is not 0 or 1, or names
            may be divided by spaces or hold them, or are 0 or 1 for each class.
    """
    table = read_cells(path)
    pictures = _image_index(table, image_column)
    others = [index for index in range(len(table.header)) if index != pictures]
    names = _label_index(table, others, label_column)
    if names is None:
        if separator is not None:
            raise ValueError(
                f"'{path}' has a column for each class, which --separator does not fit; name the "
                'column of class names by --label-column, or leave --separator out'
            )
        return _read_matrix(table, pictures, others, classes)
    try:
        labels, note = split_names(table.column(names), separator, classes or ())
    except ValueError as error:
        raise ValueError(f"in column {table.header[names]!r} of '{path}' {error}") from error
    unused = [table.header[index] for index in others if index != names]
    notes = [
        f'the class names are in the column {table.header[names]!r}, {note}',
        *([f'columns that were not used: {some(unused)}'] if unused else []),
    ]
    rows = [
        LabelRow(cells[pictures], found, where)
        for (where, cells), found in zip(table.rows, labels, strict=True)
    ]
    return LabelTable(rows, notes=tuple(notes))


def _image_index(table: CsvCells, wanted: str | None) -> int:
    if wanted is not None:
        return _named(table, wanted, '--image-column')
    matches = [
        index
        for index, name in enumerate(table.header)
        if _IMAGE_COLUMN.fullmatch(re.sub(r'[\W_]', '', name))
    ]
    if len(matches) > 1:
        found = some(repr(table.header[index]) for index in matches)
        raise ValueError(
            f"'{table.path}' has several columns that could name the pictures ({found}); choose "
            'one by --image-column'
        )
    return matches[0] if matches else 0


def _label_index(table: CsvCells, others: Sequence[int], wanted: str | None) -> int | None:
    if wanted is not None:
        index = _named(table, wanted, '--label-column')
        if index not in others:
            raise ValueError(
                f'the column {wanted!r} holds the pictures; name another for the labels'
            )
        return index
    called = [index for index in others if _LABEL_COLUMN.fullmatch(table.header[index])]
    if len(others) == 1:
        numbers = all(_is_number_or_flag(cell) for cell in table.column(others[0]))
        return others[0] if called or not numbers else None
    if len(called) == 1 and not all(_is_number_or_flag(c) for c in table.column(called[0])):
        return called[0]
    return None


def _named(table: CsvCells, name: str, option: str) -> int:
    if name.strip() not in table.header:
        raise ValueError(
            f"'{table.path}' has no column {name!r}, which {option} names; it has "
            f'{some(map(repr, table.header), 8)}'
        )
    return table.header.index(name.strip())


def _read_matrix(
    table: CsvCells, pictures: int, others: Sequence[int], classes: Sequence[str] | None
) -> LabelTable:
    names = [table.header[index] for index in others]
    _check_columns(table.path, names, classes)
    rows = []
    for where, cells in table.rows:
        labels = tuple(
            name
            for name, index in zip(names, others, strict=True)
            if _read_flag(cells[index], name, where)
        )
        rows.append(LabelRow(cells[pictures], labels, where))
    return LabelTable(rows, tuple(names))


def _check_columns(path: str, names: Sequence[str], classes: Sequence[str] | None) -> None:
    if classes is None:
        return
    for these, those, text in (
        (names, classes, 'columns that are not in --classes'),
        (classes, names, 'no column for classes of --classes'),
    ):
        odd = [name for name in these if name not in those]
        if odd:
            raise ValueError(
                f"'{path}' has {text}: {some(map(repr, odd))}; correct the header or --classes"
            )


def _read_flag(cell: str, name: str, where: str) -> bool:
    text = re.sub(r'^([01])\.0*$', r'\1', cell.lower())
    if text in _YES or text in _NO:
        return text in _YES
    raise ValueError(
        f'{where} has {cell!r} in column {name!r}, expected 0 or 1 (also true/false, yes/no, or '
        'nothing for 0); correct it (marks for difficult or unknown labels are not supported), or '
        'if the file has class names in a cell, name their column by --label-column'
    )


def _is_number_or_flag(cell: str) -> bool:
    return cell.lower() in _YES | _NO or re.fullmatch(r'[-+]?\d+(\.\d*)?', cell) is not None
