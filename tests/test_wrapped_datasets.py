from __future__ import annotations

from typing import Any

import pytest
from mmengine.config import Config
from mmengine.dataset import BaseDataset, ConcatDataset

from mmshufflemix.wrapped_datasets import dataset_parts, loader_datasets

REPEATED = {'type': 'r', 'dataset': {'type': 'a'}}


def test_parts_of_built_datasets() -> None:
    first, second = (BaseDataset(lazy_init=True) for _ in range(2))
    # Only as a config may a wrapper stand inside of this one.
    repeated = {'type': 'RepeatDataset', 'dataset': first, 'times': 3, 'lazy_init': True}
    joined = ConcatDataset([repeated, second], lazy_init=True)
    assert list(dataset_parts(joined)) == [first, second]
    assert list(dataset_parts(second)) == [second]
    assert list(dataset_parts([1, 2])) == [[1, 2]]


@pytest.mark.parametrize(
    ('dataset', 'expected'),
    [
        ({'type': 'a'}, 'a'),
        (REPEATED, 'ra'),
        (
            {'type': 'c', 'datasets': [{'type': 'r', 'dataset': {'type': 'a'}}, {'type': 'b'}]},
            'crab',
        ),
        ('odd', ''),
        (None, ''),
    ],
)
def test_configs_of_the_datasets_of_a_loader(dataset: Any, expected: str) -> None:
    cfg = Config({'test_dataloader': {'dataset': dataset}, 'val_dataloader': None})
    assert ''.join(found.type for found in loader_datasets(cfg, 'test_dataloader')) == expected
    for missing in ('val_dataloader', 'train_dataloader'):
        assert list(loader_datasets(cfg, missing)) == []
