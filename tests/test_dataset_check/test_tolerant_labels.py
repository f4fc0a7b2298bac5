"""Reading of one row's labels, against the strict reader of the data set."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from mmshufflemix.dataset_check.findings import KINDS
from mmshufflemix.dataset_check.readers.labels import check_ids, tolerant_labels
from mmshufflemix.datasets.checked_multi_label import leads_out
from mmshufflemix.datasets.multi_label_json import read_labels

CLASSES = ('cat', 'dog', 'tree')
VALUES: list[Any] = [
    *(list(ids) for n in range(4) for ids in itertools.product((-1, 0, 1, 2, 3), repeat=n)),
    *(list(names) for n in (1, 2) for names in itertools.product(('cat', 'tree', 'x'), repeat=n)),
    ['cat', 1],
    [True],
    [1.0],
    'cat',
    1,
    None,
    {'cat': 1},
    [[0]],
]


def test_refuses_what_the_data_set_refuses_and_reads_the_rest_alike() -> None:
    class_ids = {name: index for index, name in enumerate(CLASSES)}
    refused = 0
    for value in VALUES:
        labels, notes = tolerant_labels(value, CLASSES)
        errors = [kind for kind, _ in notes if KINDS[kind][0] == 'error']
        try:
            expected = read_labels(value, class_ids, 'row')
        except ValueError:
            refused += 1
            assert errors, value
        else:
            assert not errors, value
            assert list(labels) == expected
    assert 0 < refused < len(VALUES)


@pytest.mark.parametrize(
    ('value', 'labels', 'notes'),
    [
        ([2, 0, 7, -1], (0, 2), [('out-of-range', '7'), ('out-of-range', '-1')]),
        ([2, 2], (2,), [('repeated-id', '2, 2')]),
        ([1, 0, 0], (), [('one-hot', '1, 0, 0')]),
        (['tree', 'cta', 'tree'], (2,), [('unknown-label', "'cta'"), ('repeated-name',) * 2]),
        ('cat', (), [('bad-labels', "'cat'")]),
    ],
)
def test_notes_all_that_is_wrong(value: Any, labels: tuple[int, ...], notes: list) -> None:
    found = tolerant_labels(value, CLASSES)
    assert found[0] == labels
    assert [kind for kind, _ in found[1]] == [kind for kind, _ in notes]
    assert found[1][0] == notes[0]


def test_ids_of_no_class_are_all_out_of_range() -> None:
    assert check_ids([0], 0) == ((), [('out-of-range', '0')])


def test_names_that_lead_out() -> None:
    assert [leads_out(name) for name in ('a/b.jpg', '../b.jpg', 'a/../../b', '/b')] == [
        False,
        True,
        True,
        True,
    ]
