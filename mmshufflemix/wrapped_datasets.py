"""Walk through the data sets that wrappers hold, as configs and as they are built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mmengine.config import Config, ConfigDict
from mmengine.dataset import ClassBalancedDataset, ConcatDataset, RepeatDataset

__all__ = ['dataset_parts', 'loader_datasets']


def dataset_parts(dataset: Any) -> Iterator[Any]:
    """Yield what is inside of repetition and concatenation, each part once and in its order.

    Args:
        dataset: A built data set. Wrappers other than ``RepeatDataset``, ``ClassBalancedDataset``
            and ``ConcatDataset`` are parts themselves.
    """
    if isinstance(dataset, RepeatDataset | ClassBalancedDataset):
        yield from dataset_parts(dataset.dataset)
    elif isinstance(dataset, ConcatDataset):
        for part in dataset.datasets:
            yield from dataset_parts(part)
    else:
        yield dataset


def loader_datasets(cfg: Config, loader: str) -> Iterator[ConfigDict]:
    """Yield the configs of a loader's data sets, wrappers before what they hold; none without it.

    Args:
        cfg: The config.
        loader: Name of the setting, such as ``'test_dataloader'``.
    """
    yield from _configs((cfg.get(loader) or {}).get('dataset'))


def _configs(dataset: Any) -> Iterator[ConfigDict]:
    if isinstance(dataset, dict):
        yield dataset
        inner = dataset.get('datasets') or [dataset.get('dataset')]
        for item in inner if isinstance(inner, list | tuple) else [inner]:
            yield from _configs(item)
