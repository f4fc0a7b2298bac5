"""Meta information that an image has alone, against MMPretrain's own pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from mmengine.dataset import RepeatDataset
from mmpretrain.datasets import BaseDataset
from mmpretrain.structures import DataSample
from mmpretrain.utils import register_all_modules

from mmshufflemix import InMemoryImages

register_all_modules()
KEYS = ('sample_idx', 'note', 'flip', 'img_shape')
FLIP = dict(type='RandomFlip', prob=0.5, direction='horizontal')


class Noted(BaseDataset):
    """Images with a note each, or without."""

    def __init__(self, notes: Sequence[Any], random: Sequence[dict] = (), key: str = 'note'):
        self.notes, self.key = notes, key
        super().__init__(ann_file='', pipeline=[*random, dict(type='PackInputs', meta_keys=KEYS)])

    def load_data_list(self) -> list[dict]:
        given = [{} if note is ... else {self.key: note} for note in self.notes]
        image = np.zeros((8, 8, 3), np.uint8)
        return [dict(img=image, gt_label=0, **note) for note in given]


def assert_alike(made: DataSample, plain: DataSample) -> None:
    assert made._metainfo_fields == plain._metainfo_fields
    assert set(made.__dict__) == set(plain.__dict__)
    for key, value in plain.metainfo.items():
        found = made.get(key)
        assert type(found) is type(value)
        if isinstance(value, np.ndarray):
            assert np.array_equal(found, value)
        else:
            assert found == value


@pytest.mark.parametrize(
    'notes',
    [
        [..., 'b', ..., 'd'],
        ['a', ..., ..., ...],
        [..., ..., 'b', 'b'],
        [..., [1], {'a': 2}, None],
        [np.zeros(2), ..., np.ones(2), 4],
    ],
)
@pytest.mark.parametrize('wrapped', [False, True])
def test_what_only_some_images_have_stays_with_them(notes: list[Any], wrapped: bool) -> None:
    dataset: Any = Noted(notes)
    if wrapped:
        dataset = RepeatDataset(dataset, 2)
    fast = InMemoryImages(dataset)
    indices = [3, 1, 0, 2, 1, *range(len(fast))]
    samples = fast.__getitems__(indices)['data_samples']
    for index, sample in zip(indices, samples, strict=True):
        assert_alike(sample, dataset[index]['data_samples'])
        assert_alike(fast[index]['data_samples'], dataset[index]['data_samples'])


@pytest.mark.parametrize(
    'note',
    [
        np.zeros(2),
        torch.zeros(2),
        [0, 0],
        ([0, 0], 'b'),
        {'x': 0},
        {1},
    ],
)
@pytest.mark.parametrize('alike', [True, False])
def test_samples_do_not_share_what_can_be_changed(note: Any, alike: bool) -> None:
    """A change in one is seen in no other, not of this batch nor of the next."""

    def change(value: Any) -> None:
        if isinstance(value, tuple):
            value = value[0]
        if isinstance(value, set):
            value.add(9)
        else:
            value['x' if isinstance(value, dict) else 0] = 9

    dataset = Noted([note, note if alike else ...])
    fast = InMemoryImages(dataset)
    first, second = fast.__getitems__([0, 0])['data_samples']
    change(first.note)
    [third] = fast.__getitems__([0])['data_samples']
    for sample in (second, third, fast[0]['data_samples']):
        assert repr(sample.note) == repr(dataset[0]['data_samples'].note)
    if alike:
        assert repr(fast[1]['data_samples'].note) == repr(dataset[1]['data_samples'].note)


@pytest.mark.parametrize('value', [..., [1], 'a'])
@pytest.mark.parametrize('key', ['flip', 'img_shape'])
def test_what_a_random_transform_writes_takes_the_place_of_it(key: str, value: Any) -> None:
    random = [FLIP, dict(type='RandomCrop', crop_size=8)]
    dataset = Noted([value, [2], [2]], random, key)
    samples = InMemoryImages(dataset).__getitems__([0, 1, 2])['data_samples']
    for sample, plain in zip(samples, dataset, strict=True):
        assert sample._metainfo_fields == plain['data_samples']._metainfo_fields
        assert type(sample.flip) is bool
        assert sample.img_shape == plain['data_samples'].img_shape == (8, 8, 3)
