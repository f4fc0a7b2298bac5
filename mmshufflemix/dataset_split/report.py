"""What to tell about a split: counts of classes, rare classes, copies of pictures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mmshufflemix.dataset_split.rows import LabelledRows
from mmshufflemix.text import align_table, some

__all__ = ['count_table', 'duplicate_notes', 'rare_notes', 'size_notes']


def count_table(data: LabelledRows, parts: np.ndarray, names: Sequence[str]) -> str:
    """Align the images of each class in each part; the last row counts all images."""
    masks = [parts == index for index in range(len(names))]
    lines = [['class', *names, 'all']]
    columns = [
        *zip(data.classes, data.labels.T, strict=True),
        ('images', np.ones(len(parts), bool)),
    ]
    for title, has in columns:
        counts = [int((has & mask).sum()) for mask in masks]
        lines.append([title, *map(str, counts), str(sum(counts))])
    return align_table(lines)


def rare_notes(data: LabelledRows, parts: np.ndarray, names: Sequence[str]) -> list[str]:
    """Name the classes that some part lacks."""
    notes = []
    for title, has in zip(data.classes, data.labels.T, strict=True):
        absent = [name for index, name in enumerate(names) if not has[parts == index].any()]
        if absent:
            notes.append(f'{title!r} has {int(has.sum())} images and none in {some(absent)}')
    return notes


def size_notes(parts: np.ndarray, wanted: Sequence[int], names: Sequence[str]) -> list[str]:
    """Name the parts whose sizes differ from the wanted ones by more than one image."""
    found = np.bincount(parts, minlength=len(names))
    return [
        f'{name} has {have} images instead of {want}, to keep groups together or rare classes '
        'in each part'
        for name, have, want in zip(names, found, wanted, strict=True)
        if abs(have - want) > 1
    ]


def duplicate_notes(
    data: LabelledRows, contents: Mapping[str, str], folder: str | Path
) -> list[str]:
    """Tell of pictures with one content, of those with different labels, and of missing ones."""
    copies: dict[str, list[int]] = defaultdict(list)
    for index, name in enumerate(data.names):
        if name in contents:
            copies[contents[name]].append(index)
    same = [indices for indices in copies.values() if len(indices) > 1]
    notes = []
    if same:
        example = some((data.names[index] for index in same[0]), 3)
        notes.append(f'pictures with several copies, kept in one part: {len(same)} ({example})')
    unlike = [found for found in same if (data.labels[found] != data.labels[found[0]]).any()]
    if unlike:
        example = some((data.names[index] for index in unlike[0]), 3)
        notes.append(f'of these, with different labels, please check: {len(unlike)} ({example})')
    absent = [name for name in data.names if not Path(folder, name).is_file()]
    if absent:
        notes.append(
            f"{len(absent)} of {len(data.names)} pictures are not in '{folder}' "
            f'({some(absent, 3)}), so copies of them were not looked for; set --images'
        )
    return notes
