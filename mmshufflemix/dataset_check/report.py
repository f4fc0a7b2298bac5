"""The result of a check as text and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mmshufflemix.dataset_check.duplicates import Member
from mmshufflemix.dataset_check.rows import Split
from mmshufflemix.dataset_check.run import CheckResult
from mmshufflemix.text import align_table, printable

__all__ = ['class_table', 'format_report', 'report_record', 'split_table', 'verdict']

_MOST_CLASSES = 100


def format_report(result: CheckResult) -> str:
    """Splits, counts of the classes and findings, one a line."""
    parts = [f'{printable(result.dataset.source)}: {printable(result.dataset.layout)}']
    if result.dataset.splits:
        parts.append(align_table(split_table(result)))
    table = class_table(result)
    if len(table) > 1:
        parts.append(align_table(table[: _MOST_CLASSES + 1]))
    if len(table) > _MOST_CLASSES + 1:
        parts.append(f'(the first {_MOST_CLASSES} of {len(table) - 1} classes)')
    if result.findings:
        parts.append('\n'.join(found.line() for found in result.findings))
    return '\n\n'.join([*parts, verdict(result)])


def verdict(result: CheckResult) -> str:
    """Count errors and warnings in one sentence."""
    looked = '' if result.pictures else ' (pictures were not looked at)'
    return f'{result.number("error")}, {result.number("warning")}{looked}'


def split_table(result: CheckResult) -> list[list[str]]:
    """Header and a line for each split."""
    lines = [['split', 'pictures', 'classes', 'labels a picture', 'without labels']]
    for split in result.dataset.splits:
        total = len(split.rows)
        labels = sum(len(row.labels) for row in split.rows)
        mean = f'{labels / total:.2f}' if total else '-'
        empty = sum(row.unlabelled for row in split.rows)
        lines.append([printable(split.name), str(total), str(len(split.classes)), mean, str(empty)])
    return lines


def class_table(result: CheckResult) -> list[list[str]]:
    """Header and a line for each class: its pictures in each split, and those only difficult."""
    splits = result.dataset.splits
    names = list(dict.fromkeys(name for split in splits for name in split.classes))
    columns: list[tuple[str, dict[str, int]]] = []
    for split in splits:
        counts = result.statistics[split.name]
        title = printable(split.name)
        columns.append((title, dict(zip(split.classes, counts.counts.tolist(), strict=True))))
        if counts.difficult.any():
            difficult = dict(zip(split.classes, counts.difficult.tolist(), strict=True))
            columns.append((f'{title} difficult', difficult))
    lines = [['class', *(title for title, _ in columns)]]
    for name in names:
        lines.append([printable(name), *(str(counts.get(name, '-')) for _, counts in columns)])
    return lines


def report_record(result: CheckResult) -> dict[str, Any]:
    """Make plain data for JSON, with all items of all findings."""
    return {
        'source': result.dataset.source,
        'layout': result.dataset.layout,
        'pictures_checked': bool(result.pictures),
        'errors': result.count('error'),
        'warnings': result.count('warning'),
        'splits': {split.name: _split_record(result, split) for split in result.dataset.splits},
        'findings': [
            {
                'severity': found.severity,
                'kind': found.kind,
                'split': found.split,
                'text': found.text,
                'count': len(found.items),
                'items': list(found.items),
            }
            for found in result.findings
        ],
        'equal_pictures': [_group_record(group) for group in result.equal],
        'similar_pictures': [_group_record(group) for group in result.alike],
    }


def _split_record(result: CheckResult, split: Split) -> dict[str, Any]:
    counts = result.statistics[split.name]
    return {
        'pictures': len(split.rows),
        'classes': list(split.classes),
        'counts': counts.counts.tolist(),
        'difficult': counts.difficult.tolist(),
        'labels_per_picture': counts.per_picture.tolist(),
        'cooccurrence': counts.together.tolist() if split.several else None,
    }


def _group_record(group: Sequence[Member]) -> list[dict[str, Any]]:
    return [
        {'split': member.split, 'name': member.row.name, 'labels': list(member.row.labels)}
        for member in group
    ]
