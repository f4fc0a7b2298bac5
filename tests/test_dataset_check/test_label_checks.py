"""Counts of labels and what they say."""

from __future__ import annotations

from collections import Counter

import numpy as np

from mmshufflemix.dataset_check.findings import Fault, Finding, gather
from mmshufflemix.dataset_check.labels import class_list_faults, label_faults, label_statistics
from mmshufflemix.dataset_check.report import format_report
from mmshufflemix.dataset_check.rows import DataSet, Row, Split
from mmshufflemix.dataset_check.run import check_dataset
from mmshufflemix.text import printable
from tests.test_dataset_check.folders import CLASSES, items


def split_of(*labels: tuple[int, ...], several: bool = True) -> Split:
    rows = [Row(f'{index}.png', None, ids) for index, ids in enumerate(labels)]
    return Split('train', CLASSES, rows, several=several)


def found_in(split: Split) -> dict:
    return items(gather(label_faults(split, label_statistics(split))))


def test_counts_agree_with_counting_one_by_one() -> None:
    rng = np.random.default_rng(0)
    labels = [tuple(np.flatnonzero(rng.random(3) < 0.4).tolist()) for _ in range(50)]
    found = label_statistics(split_of(*labels))
    assert found.counts.tolist() == [sum(k in ids for ids in labels) for k in range(3)]
    assert found.together[0, 2] == sum({0, 2} <= set(ids) for ids in labels)
    lengths = Counter(map(len, labels))
    assert found.per_picture.tolist() == [lengths[n] for n in range(max(lengths) + 1)]


def test_rare_absent_constant_and_inseparable_classes() -> None:
    found = found_in(split_of(*[(0, 1)] * 12))
    assert found == {
        ('no-positives', 'train'): ('tree',),
        ('no-negatives', 'train'): ('cat', 'dog'),
        ('always-together', 'train'): ('cat and dog (12)',),
    }
    found = found_in(split_of((0, 1), (0,), (2,), ()))
    assert found['few-positives', 'train'] == ('cat (2)', 'dog (1)', 'tree (1)')
    assert found['no-label', 'train'] == ('3.png',)
    assert ('always-together', 'train') not in found


def test_one_class_apart_is_not_inseparable() -> None:
    assert ('always-together', 'train') not in found_in(split_of(*[(0, 1)] * 12, (0,), (2,)))


def test_rows_with_wrong_or_difficult_labels_are_not_called_unlabelled() -> None:
    split = Split('train', CLASSES, [Row('a.png', None, (), doubtful=True)])
    assert ('no-label', 'train') not in found_in(split)
    split = Split('train', CLASSES, [Row('a.png', None, (), difficult=(1,))])
    assert ('no-label', 'train') not in found_in(split)


def test_empty_split_says_only_that() -> None:
    assert list(found_in(split_of())) == [('empty-split', 'train')]


def test_class_lists() -> None:
    splits = [
        Split('train', ('a', 'b')),
        Split('val', ('a', 'b', 'c')),
        Split('test', ('b', 'a')),
        Split('more', ('a', 'b')),
        Split('odd', ('x',), faults=[Fault('unnamed-classes', 'odd', '')]),
    ]
    assert [(fault.split, fault.item) for fault in class_list_faults(splits)] == [
        ('val', '3 classes, but 2 in train'),
        ('test', "class 0 is 'b', but 'a' in train"),
    ]


def test_findings_are_one_line_with_errors_first() -> None:
    faults = [Fault('grey', 'train', 'a'), *[Fault('missing', 'val', f'x\n{i}') for i in range(5)]]
    found = gather(faults)
    assert [one.severity for one in found] == ['error', 'warning']
    assert found[0].line() == ('error    val: pictures that do not exist (5): x 0, x 1, x 2, ...')
    long = Finding('error', 'missing', 'val', 'lost', ('y' * 500,))
    assert len(long.line()) < 200


def test_control_characters_and_broken_names_are_not_printed() -> None:
    assert printable('a\x1b[31m\nb\udcff') == 'a?[31m b?'


def test_the_summary_counts_cases_and_the_findings_that_list_them() -> None:
    """Two pictures without labels and three rare classes are five warnings in two findings."""
    split = split_of((0, 1), (2,), (), ())
    result = check_dataset(DataSet('set', 'by hand', [split]), with_pictures=False)
    *_, findings, summary = format_report(result).split('\n\n')
    assert len(findings.splitlines()) == 2
    assert summary.startswith('0 errors, 5 warnings in 2 findings')
    split = split_of((0, 1), (2,), ())
    result = check_dataset(DataSet('set', 'by hand', [split]), with_pictures=False)
    assert result.number('warning') == '4 warnings in 2 findings'
    split = split_of(*[(0,), (1,), (2,)] * 12, ())
    result = check_dataset(DataSet('set', 'by hand', [split]), with_pictures=False)
    assert result.number('warning') == '1 warning'
