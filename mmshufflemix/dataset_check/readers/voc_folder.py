"""Folders in the layout of PASCAL VOC: ``Annotations``, ``ImageSets/Main``, ``JPEGImages``.

The lists ``train``, ``val`` and ``test`` are read, or ``trainval`` in place of the first two where
one of them is missing or it has more images than they; without any of these, every list whose
lines are single ids. The classes are VOC's 20 where more than half of the names in the annotation
files are among them, and else those names, sorted.
"""

from __future__ import annotations

from pathlib import Path

from mmpretrain.datasets.categories import VOC2007_CATEGORIES

from mmshufflemix.dataset_check.findings import Fault
from mmshufflemix.dataset_check.readers.json_folder import split_order
from mmshufflemix.dataset_check.rows import DataSet, Row, Split
from mmshufflemix.datasets.checked_multi_label import leads_out
from mmshufflemix.datasets.voc_files import read_objects
from mmshufflemix.datasets.voc_multi_label import split_difficult
from mmshufflemix.inference.sources import PICTURE_ENDINGS

__all__ = ['choose_lists', 'read_voc_folder', 'voc_root']

Objects = list[tuple[str, bool]]


def voc_root(folder: Path) -> Path | None:
    """Find the folder with ``ImageSets/Main``: this one, or the first ``VOC*`` one or two below."""
    below = [*sorted(folder.glob('VOC*')), *sorted(folder.glob('VOCdevkit/VOC*'))]
    for root in (folder, *below):
        if (root / 'ImageSets' / 'Main').is_dir():
            return root
    return None


def read_voc_folder(root: Path) -> DataSet:
    """Read the lists and the annotation files that they name."""
    files = {path.stem: path for path in split_order((root / 'ImageSets' / 'Main').glob('*.txt'))}
    lines = {name: _lines(path) for name, path in files.items()}
    chosen = choose_lists(lines)
    faults: dict[str, list[Fault]] = {name: [] for name in chosen}
    found = {name: _read_list(root, name, lines[name], faults[name]) for name in chosen}
    names = {
        label for rows in found.values() for objects in rows.values() for label, _ in objects or ()
    }
    known = names & set(VOC2007_CATEGORIES)
    classes = VOC2007_CATEGORIES if 2 * len(known) > len(names) else sorted(names)
    endings = {path.stem: path.suffix for path in _pictures(root)}
    splits = []
    for name in chosen:
        split = Split(name, tuple(classes), faults=faults[name])
        # A list may name an image twice.
        for image in lines[name]:
            if image in found[name]:
                split.rows.append(_row(root, split, image, found[name][image], endings))
        splits.append(split)
    return DataSet(str(root), f'VOC, lists {", ".join(chosen)}', splits)


def choose_lists(lines: dict[str, list[str]]) -> list[str]:
    """Choose the lists that together name each image once, see the module."""
    chosen: list[str] = [name for name in ('train', 'val') if name in lines]
    covered = {image for name in chosen for image in lines[name]}
    if 'trainval' in lines and (len(chosen) < 2 or set(lines['trainval']) - covered):
        chosen = ['trainval']
    chosen += ['test'] if 'test' in lines else []
    return chosen or [name for name, rows in lines.items() if _single(rows)]


def _read_list(
    root: Path, name: str, images: list[str], faults: list[Fault]
) -> dict[str, Objects | None]:
    """Read the objects of every image that a list names; None where that fails."""
    found: dict[str, Objects | None] = {}
    for number, image in enumerate(images, start=1):
        if len(image.split()) != 1:
            faults.append(Fault('bad-row', name, f'line {number}: {image!r}'))
        elif leads_out(image):
            faults.append(Fault('outside', name, f'{image} (line {number})'))
        elif image not in found:
            path = root / 'Annotations' / f'{image}.xml'
            found[image] = None
            try:
                found[image] = read_objects(str(path))
            except FileNotFoundError:
                faults.append(Fault('bad-annotation', name, f'{path.name} does not exist'))
            except (OSError, ValueError) as error:
                faults.append(Fault('bad-annotation', name, str(error)))
    return found


def _row(
    root: Path, split: Split, image: str, objects: Objects | None, endings: dict[str, str]
) -> Row:
    class_ids = {name: index for index, name in enumerate(split.classes)}
    known = [entry for entry in objects or () if entry[0] in class_ids]
    unknown = dict.fromkeys(name for name, _ in objects or () if name not in class_ids)
    split.faults.extend(
        Fault('unknown-label', split.name, f'{image} ({name!r})') for name in unknown
    )
    labels, difficult = split_difficult(known, class_ids)
    name = f'{image}{endings.get(image, ".jpg")}'
    return Row(
        name,
        str(root / 'JPEGImages' / name),
        tuple(sorted(labels + difficult)),
        tuple(difficult),
        doubtful=objects is None or bool(unknown),
    )


def _lines(path: Path) -> list[str]:
    text = path.read_text('utf-8-sig', errors='replace')
    return [line.strip() for line in text.splitlines() if line.strip()]


def _single(lines: list[str]) -> bool:
    return all(len(line.split()) == 1 for line in lines)


def _pictures(root: Path) -> list[Path]:
    folder = root / 'JPEGImages'
    return [p for p in sorted(folder.glob('*')) if p.suffix.lower() in PICTURE_ENDINGS]
