"""Bring labels of any format into the JSON form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmshufflemix.files import check_writable
from mmshufflemix.label_files.class_names import choose_classes, describe_near
from mmshufflemix.label_files.picture_names import PictureFolder
from mmshufflemix.label_files.read import (
    ReadOptions,
    find_format,
    picture_folder,
    read_labels_of,
)
from mmshufflemix.label_files.table import LabelRow
from mmshufflemix.text import align_table, printable, some

__all__ = ['Conversion', 'check_target', 'convert_labels', 'describe_conversion']


@dataclass(frozen=True)
class Conversion:
    """Labels in the JSON form of ``MultiLabelJSON``, and sentences about what was decided."""

    content: dict[str, Any]
    notes: tuple[str, ...]


def check_target(source: str | Path, target: str | Path) -> None:
    """Check, before the work, that a file may be written for the labels of ``source``.

    Raises:
        ValueError: If it cannot be written, is no ``.json`` file, or is the source itself.
    """
    check_writable(target)
    if Path(target).suffix.lower() != '.json':
        raise ValueError(f"labels are written as .json, got '{target}'; change its ending")
    if Path(target).resolve() == Path(source).resolve():
        raise ValueError(f"'{target}' is the file of the labels; name another to write")


def convert_labels(
    source: str | Path,
    images: str | Path | None = None,
    kind: str | None = None,
    classes: Sequence[str] | None = None,
    missing: str = 'error',
    options: ReadOptions | None = None,
) -> Conversion:
    """Read labels and look for their pictures.

    Rows of one picture with the same labels are merged. Image paths in the result are relative
    to the picture folder.

    Args:
        source: File or folder of the labels.
        images: Folder of the pictures; needed unless the format implies it.
        kind: One of ``FORMATS``; None finds it from the input.
        classes: All classes in their order; None takes columns, folders or sorted names.
        missing: ``'error'``, or ``'skip'`` to leave out rows whose picture is not there.
        options: What only some formats have.

    Raises:
        FileNotFoundError: If the labels or pictures are missing.
        ValueError: If labels are malformed, a name leads out of the picture folder, or rows of
            one picture contradict each other.
    """
    kind = kind or find_format(source)
    pictures = PictureFolder(picture_folder(source, kind, images))
    table = read_labels_of(source, kind, options or ReadOptions(), classes)
    found, absent = _look_up(table.rows, pictures)
    if absent and (missing == 'error' or not found):
        hint = 'correct the names' if not found else 'add them, or leave them out by --missing skip'
        raise FileNotFoundError(
            f"{len(absent)} of {len(table.rows)} pictures are not in '{pictures.folder}', first "
            f'by {absent[0].where}: {some((row.name for row in absent), 3)}; {hint} (the folder '
            f'has {some(pictures.names, 3)})'
        )
    names = choose_classes(table, classes)
    merged = _merge(found)
    notes = [*table.notes, *(describe_near(merged.values()) if classes is None else ())]
    if absent:
        notes.append(
            f'left out without a picture: {len(absent)} ({some((row.name for row in absent), 3)})'
        )
    if len(merged) < len(found):
        notes.append(f'rows merged that repeat a picture: {len(found) - len(merged)}')
    unnamed = len(pictures.names) - len(merged)
    if unnamed and kind != 'folders':
        notes.append(f"pictures in '{pictures.folder}' that the labels do not name: {unnamed}")
    content = {
        'metainfo': {'classes': list(names)},
        'data_list': [_json_row(name, row, names) for name, row in merged.items()],
    }
    return Conversion(content, tuple(notes))


def describe_conversion(conversion: Conversion) -> str:
    """Summarise a conversion: images, images a class, and the notes."""
    classes = conversion.content['metainfo']['classes']
    rows = conversion.content['data_list']
    counts = [0] * len(classes)
    for row in rows:
        for label in row['gt_label']:
            counts[label] += 1
    lines = [('class', 'images'), *((n, str(c)) for n, c in zip(classes, counts, strict=True))]
    bare = sum(not row['gt_label'] for row in rows)
    return '\n'.join(
        [
            f'{len(rows)} images, {len(classes)} classes, {bare} images without labels',
            align_table(lines),
            *(f'note: {printable(note)}' for note in conversion.notes),
        ]
    )


def _look_up(
    rows: Sequence[LabelRow], pictures: PictureFolder
) -> tuple[list[tuple[str, LabelRow]], list[LabelRow]]:
    found, absent = [], []
    for row in rows:
        name = pictures.find(row.name, row.where)
        if name is None:
            absent.append(row)
        else:
            found.append((name, row))
    return found, absent


def _merge(found: Sequence[tuple[str, LabelRow]]) -> dict[str, LabelRow]:
    merged: dict[str, LabelRow] = {}
    for name, row in found:
        first = merged.setdefault(name, row)
        if set(first.labels) != set(row.labels) or set(first.difficult) != set(row.difficult):
            raise ValueError(
                f'{first.where} and {row.where} give the picture {name!r} different labels '
                f'({some(first.labels) or "none"}; {some(row.labels) or "none"}); keep one row'
            )
    return merged


def _json_row(name: str, row: LabelRow, classes: Sequence[str]) -> Mapping[str, Any]:
    ids = {label: index for index, label in enumerate(classes)}
    content = {'img_path': name, 'gt_label': sorted(ids[label] for label in row.labels)}
    if row.difficult:
        content['gt_label_difficult'] = sorted(ids[label] for label in row.difficult)
    return content
