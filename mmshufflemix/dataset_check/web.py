"""The result of a check as a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context

from mmshufflemix.dataset_check.charts import (
    draw_counts,
    draw_label_numbers,
    draw_sizes,
    draw_together,
)
from mmshufflemix.dataset_check.duplicates import Member
from mmshufflemix.dataset_check.gallery import MOST_GROUPS, class_examples, group_pictures
from mmshufflemix.dataset_check.labels import FEW_POSITIVES, LabelStatistics
from mmshufflemix.dataset_check.report import class_table, split_table, verdict
from mmshufflemix.dataset_check.rows import Split, source_key
from mmshufflemix.dataset_check.run import CheckResult
from mmshufflemix.label_graph.adjacency import conditional_probability
from mmshufflemix.page import Section, embed_figure, write_page
from mmshufflemix.text import printable, some

__all__ = ['write_dataset_page']

_MOST_DRAWN = 120  # classes in a chart
_MOST_PAIRS = 12
_STYLE: Any = {
    'text.parse_math': False,  # a class may have a $ in its name
}


def write_dataset_page(path: str | Path, result: CheckResult) -> None:
    """Write a self-contained page: findings, tables, charts and thumbnails."""
    facts = {
        'Data': printable(result.dataset.source),
        'Read as': printable(result.dataset.layout),
        'Result': verdict(result),
    }
    sections = [_findings(result), _splits(result)]
    with rc_context(_STYLE):
        sections += [*_classes(result), *_numbers(result), *_together(result), *_sizes(result)]
    sections += _galleries(result)
    write_page(path, f'Data set {printable(Path(result.dataset.source).name)}', facts, sections)


def _findings(result: CheckResult) -> Section:
    rows = [
        [found.severity, found.split, str(len(found.items)), found.text, some(found.items, 5)]
        for found in result.findings
    ]
    text = () if rows else ('Nothing was found.',)
    columns = ('Severity', 'Split', 'Count', 'What', 'The first of them')
    return Section('Findings', text, columns=columns, rows=rows)


def _splits(result: CheckResult) -> Section:
    table = split_table(result)
    return Section('Splits', columns=table[0], rows=table[1:])


def _classes(result: CheckResult) -> Iterator[Section]:
    table = class_table(result)
    if len(table) < 2:
        return
    names = [row[0] for row in table[1:]][:_MOST_DRAWN]
    counts = {}
    for split in result.dataset.splits:
        values = dict(
            zip(map(printable, split.classes), result.statistics[split.name].counts, strict=True)
        )
        counts[printable(split.name)] = np.array([int(values.get(name, 0)) for name in names])
    figure = embed_figure(draw_counts(names, counts), 'pictures of each class')
    text = () if len(table) <= _MOST_DRAWN + 1 else (f'The chart has the first {_MOST_DRAWN}.',)
    yield Section('Pictures of each class', text, [figure], columns=table[0], rows=table[1:])


def _numbers(result: CheckResult) -> Iterator[Section]:
    numbers = {
        printable(split.name): result.statistics[split.name].per_picture
        for split in result.dataset.splits
        if split.several and split.rows
    }
    if numbers:
        figure = embed_figure(draw_label_numbers(numbers), 'histogram of the labels of a picture')
        yield Section('Labels of a picture', figures=[figure])


def _together(result: CheckResult) -> Iterator[Section]:
    for split in result.dataset.splits[:1]:
        if not split.several or not 1 < len(split.classes) <= _MOST_DRAWN:
            return
        counts = result.statistics[split.name]
        chart = draw_together(
            [printable(name) for name in split.classes],
            conditional_probability(counts.counts, counts.together),
        )
        text = (
            f'Of the pictures of {printable(split.name)} that have the class of the row, the share '
            'that also have the class of the column, in percent where there is room. The table has '
            f'the largest shares of classes with at least {FEW_POSITIVES} pictures.',
        )
        yield Section(
            'Classes that occur together',
            text,
            [embed_figure(chart, 'heat map of co-occurrence')],
            ('Class', 'Often with', 'Share (%)', 'Pictures'),
            _strongest_pairs(split, counts),
        )


def _strongest_pairs(split: Split, counts: LabelStatistics) -> list[list[str]]:
    pairs = np.argwhere((counts.together > 0) & (counts.counts[:, None] >= FEW_POSITIVES))
    shares = conditional_probability(counts.counts, counts.together)
    strongest = sorted(pairs.tolist(), key=lambda pair: -shares[tuple(pair)])[:_MOST_PAIRS]
    return [
        [
            printable(split.classes[first]),
            printable(split.classes[second]),
            f'{100 * shares[first, second]:.0f}',
            str(counts.together[first, second]),
        ]
        for first, second in strongest
    ]


def _sizes(result: CheckResult) -> Iterator[Section]:
    sizes = {}
    for split in result.dataset.splits:
        found = [
            result.pictures[key]
            for key in (source_key(split.name, i, row.source) for i, row in enumerate(split.rows))
            if key in result.pictures and not result.pictures[key].fault
        ]
        if found:
            sizes[printable(split.name)] = [(one.width, one.height) for one in found]
    if sizes:
        figure = embed_figure(draw_sizes(sizes), 'width and height of the pictures')
        yield Section('Sizes', ('The larger a dot, the more pictures have its size.',), [figure])


def _galleries(result: CheckResult) -> Iterator[Section]:
    if not result.pictures:
        return
    classes = {split.name: split.classes for split in result.dataset.splits}
    for title, groups, wanted in (
        ('The same picture in several splits', result.equal, _across),
        ('The same picture again in a split', result.equal, _within),
        ('Pictures that look alike', result.alike, lambda group: True),
    ):
        chosen = _chosen(groups, wanted)
        tiles = group_pictures(chosen, result.pictures, classes)
        if tiles:
            text = f'Groups: {len(chosen)}'
            if len(chosen) > MOST_GROUPS:
                text += f', of which the first {MOST_GROUPS} are shown'
            yield Section(title, (f'{text}.',), pictures=tiles)
    example = _example_split(result)
    if example:
        tiles = class_examples(example, result.pictures)
        text = f'From {printable(example.name)}: class, name and all labels of a picture.'
        yield Section('Examples of each class', (text,), pictures=tiles)


def _chosen(
    groups: Sequence[Sequence[Member]], wanted: Callable[[Sequence[Member]], bool]
) -> list[Sequence[Member]]:
    return [group for group in groups if wanted(group)]


def _across(group: Sequence[Member]) -> bool:
    return len({member.split for member in group}) > 1


def _within(group: Sequence[Member]) -> bool:
    return not _across(group)


def _example_split(result: CheckResult) -> Split | None:
    """The first split that has pictures with labels."""
    splits = result.dataset.splits
    return next((split for split in splits if any(row.labels for row in split.rows)), None)
