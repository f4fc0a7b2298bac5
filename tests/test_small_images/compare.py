"""Hold the fast path's batches against ordinary ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from mmengine.dataset import default_collate
from mmpretrain.models import ClsDataPreprocessor
from mmpretrain.structures import DataSample

from mmshufflemix import InMemoryImages, SmallImagePreprocessor


def assert_equal_samples(one: DataSample, two: DataSample) -> None:
    """Same class, fields, kinds of fields, values and types."""
    assert type(one) is type(two)
    assert one._metainfo_fields == two._metainfo_fields
    assert one._data_fields == two._data_fields
    assert set(one.__dict__) == set(two.__dict__)
    assert one.metainfo == two.metainfo
    for key, value in one.metainfo.items():
        assert type(value) is type(two.metainfo[key]), key
    for key, value in one.items():
        assert value.dtype == two.get(key).dtype
        assert torch.equal(value, two.get(key)), key


def assert_equal_batches(
    ordinary: Any, fast: InMemoryImages, indices: Sequence[int], **settings: Any
) -> None:
    """Compare batches before and after the data preprocessors."""
    one = default_collate([ordinary[index] for index in indices])
    two = fast.__getitems__(indices)
    for plain, made in zip(one['data_samples'], two['data_samples'], strict=True):
        assert_equal_samples(plain, made)
    one = ClsDataPreprocessor(**settings)(one, training=True)
    two = SmallImagePreprocessor(**settings)(two, training=True)
    assert two.keys() == one.keys()
    assert two['inputs'].dtype == one['inputs'].dtype
    assert torch.equal(two['inputs'], one['inputs'])
    for plain, made in zip(one['data_samples'], two['data_samples'], strict=True):
        assert_equal_samples(plain, made)
