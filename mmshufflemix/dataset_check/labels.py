"""What the labels of a split add up to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mmshufflemix.dataset_check.findings import Fault
from mmshufflemix.dataset_check.rows import Split
from mmshufflemix.label_graph.statistics import count_labels

__all__ = [
    'FEW_POSITIVES',
    'LabelStatistics',
    'class_list_faults',
    'label_faults',
    'label_statistics',
]

FEW_POSITIVES = 10
_LEAST_TOGETHER = 3  # fewer may be chance


@dataclass(frozen=True)
class LabelStatistics:
    """Counts of one split with K classes.

    Attributes:
        counts: Pictures of each class (K,).
        together: Pictures of each pair of classes (K, K), symmetric, diagonal zero.
        difficult: Pictures in which a class is only difficult (K,).
        per_picture: Pictures with 0, 1, 2, ... labels.
    """

    counts: np.ndarray
    together: np.ndarray
    difficult: np.ndarray
    per_picture: np.ndarray


def label_statistics(split: Split) -> LabelStatistics:
    """Count the labels of a split."""
    num_classes = len(split.classes)
    counts, together = count_labels((row.labels for row in split.rows), num_classes)
    difficult, _ = count_labels((row.difficult for row in split.rows), num_classes)
    lengths = np.array([len(row.labels) for row in split.rows], dtype=np.int64)
    return LabelStatistics(counts, together, difficult, np.bincount(lengths, minlength=2))


def label_faults(split: Split, statistics: LabelStatistics) -> Iterator[Fault]:
    """Find pictures without labels and classes that are rare, everywhere or inseparable."""

    def fault(kind: str, item: str) -> Fault:
        return Fault(kind, split.name, item)

    total = len(split.rows)
    if not total:
        yield fault('empty-split', split.name)
        return
    yield from (fault('no-label', row.name) for row in split.rows if row.unlabelled)
    for name, count in zip(split.classes, statistics.counts.tolist(), strict=True):
        if count == 0:
            yield fault('no-positives', name)
        elif count < FEW_POSITIVES:
            yield fault('few-positives', f'{name} ({count})')
        if split.several and count == total > 1:
            yield fault('no-negatives', name)
    counts, together = statistics.counts, statistics.together
    inseparable = (together == counts) & (together == counts[:, None])
    for first, second in np.argwhere(np.triu(inseparable & (together >= _LEAST_TOGETHER), 1)):
        names = f'{split.classes[first]} and {split.classes[second]}'
        yield fault('always-together', f'{names} ({counts[first]})')


def class_list_faults(splits: Sequence[Split]) -> Iterator[Fault]:
    """Compare the class lists with that of the first split; malformed ones are left out."""
    splits = [
        split
        for split in splits
        if not any(fault.kind in ('bad-classes', 'unnamed-classes') for fault in split.faults)
    ]
    for split in splits[1:]:
        ours, first = split.classes, splits[0].classes
        if ours == first:
            continue
        where = next(
            (i for i, pair in enumerate(zip(ours, first, strict=False)) if pair[0] != pair[1]),
            None,
        )
        if where is None:
            text = f'{len(ours)} classes, but {len(first)} in {splits[0].name}'
        else:
            text = f'class {where} is {ours[where]!r}, but {first[where]!r} in {splits[0].name}'
        yield Fault('different-classes', split.name, text)
