"""Real photographs as somebody's own: under new names, with the labels that a user would know."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from mmshufflemix.datasets.voc_files import read_objects

__all__ = ['unpack_voc_subset', 'write_photographs']


def unpack_voc_subset(shared_data: Path, folder: Path) -> Path:
    """Unpack the part of VOC2007 and return its tree, or skip."""
    archive = shared_data / 'voc2007_subset.tar'
    if not archive.is_file():
        pytest.skip(f'no real photographs: {archive} does not exist')
    with tarfile.open(archive) as content:
        content.extractall(folder, filter='data')
    return folder / 'VOCdevkit' / 'VOC2007'


def write_photographs(
    shared_data: Path, images: Path, classes: Sequence[str], name: Callable[[int], str]
) -> list[tuple[str, set[str]]]:
    """Write the first 40 photographs that have one of the classes.

    Args:
        shared_data: Where the archive is.
        images: Folder to write to.
        classes: Classes to look for.
        name: Name of a photograph, without ending, from its number.

    Returns:
        Name and classes of each.
    """
    tree = unpack_voc_subset(shared_data, images / 'unpacked')
    rows: list[tuple[str, set[str]]] = []
    for path in sorted((tree / 'Annotations').glob('*.xml')):
        labels = {label for label, _ in read_objects(str(path))} & set(classes)
        if labels and len(rows) < 40:
            rows.append((name(len(rows)), labels))
            shutil.copy(tree / 'JPEGImages' / f'{path.stem}.jpg', images / f'{rows[-1][0]}.jpg')
    shutil.rmtree(images / 'unpacked')
    return rows
