"""All checks of a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mmshufflemix.dataset_check.duplicates import (
    Member,
    duplicate_faults,
    exact_groups,
    near_faults,
    near_groups,
)
from mmshufflemix.dataset_check.findings import Finding, gather
from mmshufflemix.dataset_check.labels import (
    LabelStatistics,
    class_list_faults,
    label_faults,
    label_statistics,
)
from mmshufflemix.dataset_check.pictures import Picture
from mmshufflemix.dataset_check.rows import DataSet, split_sets
from mmshufflemix.dataset_check.scan import picture_faults, scan_pictures

__all__ = ['CheckResult', 'check_dataset', 'require_sound']


@dataclass(frozen=True)
class CheckResult:
    """All that is known of a data set.

    Attributes:
        dataset: What was read.
        statistics: Label counts by split.
        pictures: By :func:`source_key`; empty if they were not looked at.
        equal: Groups of rows with the same picture.
        alike: Groups of pictures that look alike.
        findings: Errors first.
    """

    dataset: DataSet
    statistics: dict[str, LabelStatistics]
    pictures: dict[str, Picture]
    equal: Sequence[Sequence[Member]]
    alike: Sequence[Sequence[Member]]
    findings: Sequence[Finding]

    def count(self, severity: str) -> int:
        """Count the faults, not the findings, of a severity."""
        return sum(len(found.items) for found in self.findings if found.severity == severity)

    def number(self, severity: str) -> str:
        """Write the count out, such as '1 error' or '3 errors in 2 findings'."""
        count = self.count(severity)
        findings = sum(found.severity == severity for found in self.findings)
        text = f'{count} {severity}{"" if count == 1 else "s"}'
        if count != findings:
            text += f' in {findings} finding{"" if findings == 1 else "s"}'
        return text


def check_dataset(dataset: DataSet, with_pictures: bool = True, workers: int = 1) -> CheckResult:
    """Check labels and pictures.

    Args:
        dataset: What was read.
        with_pictures: Whether to decode the pictures; without, only labels and names are checked.
        workers: Threads that decode.

    Raises:
        ValueError: If ``workers`` is below 1.
    """
    splits = dataset.splits
    statistics = {split.name: label_statistics(split) for split in splits}
    pictures = scan_pictures(splits, workers) if with_pictures else {}
    sets = split_sets(splits)
    equal = [group for part in sets for group in exact_groups(part, pictures)]
    alike = [group for part in sets for group in near_groups(part, pictures)]
    faults = [*dataset.faults, *class_list_faults(splits)]
    for split in splits:
        faults += [*split.faults, *label_faults(split, statistics[split.name])]
        if with_pictures:
            faults += picture_faults(split, pictures)
    faults += [*duplicate_faults(equal), *near_faults(alike)]
    return CheckResult(dataset, statistics, pictures, equal, alike, gather(faults))


def require_sound(result: CheckResult, strict: bool = False) -> None:
    """Refuse a data set with errors.

    Args:
        result: Of the check.
        strict: Refuse one with warnings too.

    Raises:
        ValueError: With the number of errors or warnings.
    """
    source = result.dataset.source
    if result.count('error'):
        raise ValueError(f'{source} has {result.number("error")}, listed above')
    if strict and result.count('warning'):
        raise ValueError(f'{source} has {result.number("warning")}, which strict checks refuse')
