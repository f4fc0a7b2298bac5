"""Labels from folders: the pictures of a class lie in the folder of its name."""

from __future__ import annotations

import filecmp
from pathlib import Path, PurePosixPath

from mmshufflemix.label_files.picture_names import PictureFolder
from mmshufflemix.label_files.table import LabelRow, LabelTable
from mmshufflemix.text import some

__all__ = ['read_class_folders']


def read_class_folders(folder: str | Path) -> LabelTable:
    """Read ``<folder>/<class>/.../<picture>``; a class may have no pictures.

    A file of the same name and content in several class folders is one picture with several
    labels; it is named by the first of them.

    Raises:
        FileNotFoundError: If there is no such folder.
        ValueError: If it has no pictures or no class folders, pictures lie beside the class
            folders, or files of one name differ in content.
    """
    pictures = PictureFolder(folder)
    loose = [name for name in pictures.names if '/' not in name]
    if loose:
        raise ValueError(
            f"{len(loose)} pictures lie in '{folder}' itself ({some(loose, 3)}), expected a folder "
            'for each class in it; move each into the folder of its class'
        )
    found: dict[str, list[str]] = {}
    for name in pictures.names:
        if not name.startswith('.'):
            found.setdefault(str(PurePosixPath(*PurePosixPath(name).parts[1:])), []).append(name)
    rows = []
    for names in found.values():
        first = names[0]
        for other in names[1:]:
            if not filecmp.cmp(pictures.folder / first, pictures.folder / other, shallow=False):
                raise ValueError(
                    f"'{first}' and '{other}' in '{folder}' have one name but different content; "
                    'rename one of them (equal files are one picture with several labels)'
                )
        labels = tuple(PurePosixPath(name).parts[0] for name in names)
        rows.append(LabelRow(first, labels, f"'{first}' in '{folder}'"))
    classes = sorted(
        path.name
        for path in Path(folder).iterdir()
        if path.is_dir() and not path.name.startswith('.')
    )
    several = sum(len(row.labels) > 1 for row in rows)
    note = f'pictures that lie in several class folders: {several}'
    return LabelTable(sorted(rows, key=lambda row: row.name), tuple(classes), (note,))
