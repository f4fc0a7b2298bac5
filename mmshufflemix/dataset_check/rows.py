"""What the checks look at: splits of rows, each a picture and its labels."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mmshufflemix.dataset_check.findings import Fault

__all__ = ['DataSet', 'Row', 'Split', 'is_training', 'source_key', 'split_sets']

_FOLD = re.compile(r'fold\d+_')


@dataclass(frozen=True)
class Row:
    """One picture of a split.

    Attributes:
        name: How the data set calls it.
        source: Its file, or its pixels (H, W, 3) as uint8 RGB, or None where it has neither.
        labels: Class ids in 0..K-1, sorted, each once; ids that are wrong are left out.
        difficult: Ids of the classes that occur only as difficult objects.
        doubtful: Wrong labels were left out, so nothing follows from those that are left.
    """

    name: str
    source: str | np.ndarray | None
    labels: tuple[int, ...]
    difficult: tuple[int, ...] = ()
    doubtful: bool = False

    @property
    def unlabelled(self) -> bool:
        """Whether it has no label at all, not even a difficult or a wrong one."""
        return not (self.labels or self.difficult or self.doubtful)


@dataclass(frozen=True)
class Split:
    """The rows of one split.

    Attributes:
        name: Such as ``'train'``.
        classes: The K class names.
        rows: In the order of the data.
        faults: What was found while the rows were read.
        several: Whether an image may have several labels, or none.
    """

    name: str
    classes: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    several: bool = True


@dataclass(frozen=True)
class DataSet:
    """What was read from a config or a folder.

    Attributes:
        source: The config or the folder.
        layout: How it was read, in words.
        splits: Those that could be read.
        faults: Of splits that could not.
    """

    source: str
    layout: str
    splits: list[Split]
    faults: list[Fault] = field(default_factory=list)


def is_training(split: str) -> bool:
    """Tell whether a split is one to train on, by its name."""
    return _FOLD.sub('', split.lower()).startswith('train')


def split_sets(splits: Sequence[Split]) -> list[list[Split]]:
    """Group the splits that belong together: each fold is a division of the same images."""
    sets: dict[str, list[Split]] = {}
    for split in splits:
        fold = _FOLD.match(split.name.lower())
        sets.setdefault(fold.group() if fold else '', []).append(split)
    return list(sets.values())


def source_key(split: str, index: int, source: str | np.ndarray | None) -> str:
    """Name the picture of a row: its file, or its place where it has none of its own."""
    if isinstance(source, str):
        return os.path.normpath(os.path.abspath(source))
    return f'{split}#{index}'
