from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mmengine.dataset import BaseDataset, RepeatDataset

from mmshufflemix.class_names import (
    check_class_names,
    dataset_classes,
    listed_classes,
    names_or_numbers,
    require_classes,
)


def a_dataset(**metainfo: Any) -> BaseDataset:
    return BaseDataset(metainfo=metainfo, lazy_init=True)


@pytest.mark.parametrize(
    ('classes', 'error', 'message'),
    [
        ('cat', TypeError, "must be a list of names or an existing file .* got 'cat'"),
        (3, TypeError, 'must be a list of names .* got 3'),
        (['cat', 3], TypeError, 'classes must be strings, got cat, 3'),
        (['cat', 'dog', 'cat'], ValueError, 'distinct names .* got 3 with cat repeated'),
        ([], ValueError, 'at least one, got 0 with none repeated'),
    ],
)
def test_bad_class_names(classes: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        check_class_names(classes)


def test_good_class_names_become_a_tuple() -> None:
    assert check_class_names(['cat', 'dog']) == ('cat', 'dog')


@pytest.mark.parametrize('metainfo', [None, {}, {'classes': None}, {'classes': []}])
def test_metadata_may_name_no_classes(metainfo: Any) -> None:
    assert listed_classes(metainfo) == ()


@pytest.mark.parametrize('kind', [list, tuple, np.array])
def test_listed_classes_keep_their_order(kind: Any) -> None:
    assert listed_classes({'classes': kind(['dog', 'cat']), 'task': 'pets'}) == ('dog', 'cat')


def test_classes_without_names_are_numbered() -> None:
    assert names_or_numbers({'classes': ['dog', 'cat']}, 3) == ('dog', 'cat')
    assert names_or_numbers(None, 3) == ('0', '1', '2')


def test_classes_of_a_dataset_and_of_a_wrapped_one() -> None:
    dataset = a_dataset(classes=['dog', 'cat'])
    assert dataset_classes(dataset) == ('dog', 'cat')
    assert dataset_classes(RepeatDataset(dataset, 2, lazy_init=True)) == ('dog', 'cat')


@pytest.mark.parametrize('dataset', [[], a_dataset()])
def test_a_dataset_may_name_no_classes(dataset: Any) -> None:
    assert dataset_classes(dataset) == ()


def test_required_classes_are_those_of_the_dataset() -> None:
    assert require_classes(a_dataset(classes=('a', 'b')), 'a graph') == ('a', 'b')


def test_required_classes_are_missed() -> None:
    with pytest.raises(ValueError, match='the dataset BaseDataset names no classes, which a graph'):
        require_classes(a_dataset(), 'a graph')
