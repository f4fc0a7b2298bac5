"""Split a file of labels into training, validation and test parts, or into folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mmshufflemix.dataset_split.bundles import bundle, content_keys, group_keys
from mmshufflemix.dataset_split.output import check_free, write_together
from mmshufflemix.dataset_split.report import (
    count_table,
    duplicate_notes,
    rare_notes,
    size_notes,
)
from mmshufflemix.dataset_split.rows import LabelledRows, read_rows
from mmshufflemix.dataset_split.stratify import part_sizes, stratify
from mmshufflemix.text import printable

__all__ = ['SplitOptions', 'assign_parts', 'describe_split', 'split_file']

Progress = Callable[[list[str]], Iterable[str]]


@dataclass(frozen=True)
class SplitOptions:
    """How to split.

    Attributes:
        val: Share of the validation part, above 0.
        test: Share of the test part; 0 for none.
        folds: Number of folds instead of these parts, at least 2.
        seed: Equal seeds give equal parts, whatever the order of the rows.
        group_by: Regular expression on image paths, see ``group_keys``.
        images: Folder of the pictures, to find copies of one picture; None does not look.
    """

    val: float = 0.2
    test: float = 0.2
    folds: int | None = None
    seed: int = 0
    group_by: str | None = None
    images: Path | None = None

    def __post_init__(self) -> None:
        if self.folds is not None and self.folds < 2:
            raise ValueError(f'folds must be at least 2, got {self.folds}')
        if not (0 < self.val < 1 and 0 <= self.test < 1 and self.val + self.test < 1):
            raise ValueError(
                f'the shares of val and test must lie between 0 and 1 and leave images for '
                f'training, got val {self.val} and test {self.test}; use 0.2, say'
            )
        if self.seed < 0:
            raise ValueError(f'the seed must be at least 0, got {self.seed}')

    @property
    def shares(self) -> dict[str, float]:
        """Share of each part by its name."""
        if self.folds is not None:
            return {f'fold{index}': 1 / self.folds for index in range(self.folds)}
        shares = {'train': 1 - self.val - self.test, 'val': self.val}
        return {**shares, 'test': self.test} if self.test else shares


@dataclass(frozen=True)
class Split:
    """A split.

    Attributes:
        data: What was split.
        names: Names of the P parts.
        parts: Part of each row, shape (N,).
        notes: Sentences for the user.
    """

    data: LabelledRows
    names: tuple[str, ...]
    parts: np.ndarray
    notes: tuple[str, ...]


def assign_parts(data: LabelledRows, options: SplitOptions, progress: Progress = iter) -> Split:
    """Choose a part for each row; see :func:`stratify` for what is promised.

    Rows with one image path, of one group, or with pictures of one content stay together.

    Raises:
        ValueError: If there are too few images, or ``group_by`` does not fit the names.
    """
    keys: list[list[tuple[str, str]]] = [[('path', name)] for name in data.names]
    if options.group_by is not None:
        for found, group in zip(keys, group_keys(data.names, options.group_by), strict=True):
            found.append(('group', group))
    notes: list[str] = []
    if options.images is not None:
        contents = content_keys(options.images, data.names, progress)
        for found, name in zip(keys, data.names, strict=True):
            if name in contents:
                found.append(('content', contents[name]))
        notes += duplicate_notes(data, contents, options.images)
    # In the order of the names, so that the order of the rows has no say.
    order = np.array(sorted(range(len(keys)), key=lambda index: data.names[index]))
    bundles = bundle([keys[index] for index in order])
    shares = options.shares
    generator = np.random.default_rng(options.seed)
    parts = np.empty(len(order), int)
    parts[order] = stratify(
        data.labels[order], bundles, list(shares.values()), generator, options.folds is None
    )
    names = tuple(shares)
    notes += size_notes(parts, part_sizes(len(parts), list(shares.values())), names)
    notes += rare_notes(data, parts, names)
    return Split(data, names, parts, tuple(notes))


def split_file(
    source: str | Path,
    folder: str | Path,
    options: SplitOptions,
    force: bool = False,
    progress: Progress = iter,
) -> Split:
    """Split a file and write the parts: train, val and test, or fold<i>_train and fold<i>_val.

    Rows are written as they are, in their order.

    Args:
        source: The JSON file.
        folder: Where to write; made if missing.
        options: How to split.
        force: Whether an older split may be replaced.
        progress: Wraps the loop over pictures that are read to find copies.

    Raises:
        FileNotFoundError: If there is no such file.
        FileExistsError: If the folder holds a split, unless ``force``.
        ValueError: If the file is malformed or cannot be split as asked, or is one that would be
            replaced.
    """
    old = check_free(folder, force)
    if any(path.resolve() == Path(source).resolve() for path in old):
        raise ValueError(
            f"'{source}' is the file to split and would be replaced by a part; name another folder"
        )
    split = assign_parts(read_rows(source), options, progress)
    write_together(folder, _contents(split, options.folds is not None), force)
    return split


def describe_split(split: Split) -> str:
    """Show the images of each class in each part, and the notes."""
    lines = [count_table(split.data, split.parts, split.names)]
    return '\n'.join([*lines, *(f'note: {printable(note)}' for note in split.notes)])


def _contents(split: Split, folds: bool) -> Mapping[str, Any]:
    contents = {}
    for index, name in enumerate(split.names):
        inside = split.parts == index
        if folds:
            contents[f'{name}_train.json'] = _content(split.data, ~inside)
            contents[f'{name}_val.json'] = _content(split.data, inside)
        else:
            contents[f'{name}.json'] = _content(split.data, inside)
    return contents


def _content(data: LabelledRows, chosen: np.ndarray) -> dict[str, Any]:
    rows = [row for row, keep in zip(data.rows, chosen, strict=True) if keep]
    return {'metainfo': data.metainfo, 'data_list': rows}
