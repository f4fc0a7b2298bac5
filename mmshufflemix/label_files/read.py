"""Find out what kind of labels an input holds, and read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mmshufflemix.label_files.class_folders import read_class_folders
from mmshufflemix.label_files.csv_labels import read_csv_labels
from mmshufflemix.label_files.detection_sets import read_coco_labels, read_voc_labels
from mmshufflemix.label_files.list_labels import read_list_labels
from mmshufflemix.label_files.table import LabelTable
from mmshufflemix.text import some

__all__ = ['FORMATS', 'ReadOptions', 'find_format', 'picture_folder', 'read_labels_of']

FORMATS = ('csv', 'list', 'folders', 'voc', 'coco')
_BY_ENDING = {'.csv': 'csv', '.tsv': 'csv', '.txt': 'list', '.lst': 'list', '.json': 'coco'}


@dataclass(frozen=True)
class ReadOptions:
    """What only some formats have.

    Attributes:
        image_column: CSV: name of the column of the pictures.
        label_column: CSV: name of the column of class names.
        separator: CSV: what divides the names in a cell.
        image_list: VOC: name of a list in ``ImageSets/Main``.
    """

    image_column: str | None = None
    label_column: str | None = None
    separator: str | None = None
    image_list: str | None = None


def find_format(source: str | Path) -> str:
    """Tell the format of an input: folders by what is in them, files by their endings.

    Raises:
        FileNotFoundError: If there is no such file or folder.
        ValueError: If the ending says nothing.
    """
    path = Path(source)
    if not path.exists():
        raise FileNotFoundError(f"'{path}' does not exist; give the file or folder of the labels")
    if path.is_dir():
        return 'voc' if (path / 'Annotations').is_dir() else 'folders'
    kind = _BY_ENDING.get(path.suffix.lower())
    if kind is None:
        raise ValueError(
            f"the ending of '{path}' does not tell its format; choose one of {some(FORMATS)} by "
            '--format'
        )
    return kind


def picture_folder(source: str | Path, kind: str, images: str | Path | None) -> Path:
    """Return the folder of the pictures, which only VOC trees and class folders imply.

    Raises:
        ValueError: If it is not given, or class folders lie elsewhere.
    """
    if kind == 'folders':
        if images is not None and Path(images).resolve() != Path(source).resolve():
            raise ValueError(
                f"the class folders in '{source}' hold the pictures; leave --images out, or set it "
                'to the same folder'
            )
        return Path(source)
    if images is not None:
        return Path(images)
    if kind == 'voc':
        return Path(source) / 'JPEGImages'
    raise ValueError(f"'{source}' only names pictures; set --images to their folder")


def read_labels_of(
    source: str | Path, kind: str, options: ReadOptions, classes: Sequence[str] | None
) -> LabelTable:
    """Read labels in a format of :data:`FORMATS`.

    Raises:
        FileNotFoundError: If a file is missing.
        ValueError: If a file is malformed, or an option is of another format.
    """
    given = {name for name, value in vars(options).items() if value is not None}
    fitting = {
        'csv': {'image_column', 'label_column', 'separator'},
        'voc': {'image_list'},
    }.get(kind, set())
    if given - fitting:
        names = sorted(f'--{name.replace("_", "-")}' for name in given - fitting)
        raise ValueError(f'labels in the format {kind} have no {some(names)}; leave that out')
    if kind == 'csv':
        return read_csv_labels(
            source, options.image_column, options.label_column, options.separator, classes
        )
    if kind == 'voc':
        return read_voc_labels(source, options.image_list or 'trainval', classes)
    if kind == 'coco':
        return read_coco_labels(source, classes)
    return read_list_labels(source, classes) if kind == 'list' else read_class_folders(source)
