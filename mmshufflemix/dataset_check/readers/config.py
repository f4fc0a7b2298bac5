"""The datasets of a config, built without their pipelines so that missing pictures stop nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from mmengine.config import Config
from mmpretrain.registry import DATASETS

from mmshufflemix.class_names import dataset_classes
from mmshufflemix.cli import error_sentence, is_user_error
from mmshufflemix.dataset_check.findings import Fault
from mmshufflemix.dataset_check.readers.labels import check_ids
from mmshufflemix.dataset_check.rows import DataSet, Row, Split
from mmshufflemix.datasets.checked_multi_label import find_missing
from mmshufflemix.wrapped_datasets import dataset_parts

__all__ = ['read_config_splits', 'read_dataset']

_SPLITS = ('train', 'val', 'test')


def read_config_splits(cfg: Config, source: str) -> DataSet:
    """Build and read the datasets of the train, val and test dataloaders.

    What a dataset refuses becomes a fault, and the other splits are read. Where ``val`` and
    ``test`` are the same data they are one split.

    Args:
        cfg: The config.
        source: Its file.

    Raises:
        ValueError: If it has no dataset.
    """
    found: dict[str, Any] = {}
    for name in _SPLITS:
        dataset = (cfg.get(f'{name}_dataloader') or {}).get('dataset')
        if dataset is None:
            continue
        dataset = _without_pipelines(dataset)
        if name == 'test' and dataset == found.get('val'):
            del found['val']
            name = 'val/test'
        found[name] = dataset
    if not found:
        raise ValueError(f"'{source}' has no dataset in a train, val or test dataloader")
    splits, faults = [], []
    for name, dataset in found.items():
        try:
            splits.append(read_dataset(name, DATASETS.build(dataset)))
        except Exception as error:
            if not is_user_error(error):
                raise
            faults.append(Fault('unreadable-split', name, error_sentence(error)))
    return DataSet(source, 'config', splits, faults)


def read_dataset(name: str, dataset: Any) -> Split:
    """Read the rows of a dataset; repetition is undone, parts of a ``ConcatDataset`` joined.

    Pictures that are missing from a dataset with ``missing_images='skip'`` are left out.

    Args:
        name: Of the split.
        dataset: An MMEngine dataset.

    Raises:
        TypeError: If a part of it cannot say what its rows are.
        ValueError: If labels are not class ids.
    """
    parts = list(dataset_parts(dataset))
    for part in parts:
        if not hasattr(part, 'get_data_info'):
            raise TypeError(
                f'the dataset {type(part).__name__} does not tell its pictures and labels; '
                'expected one of MMEngine with get_data_info(index)'
            )
    infos = [part.get_data_info(index) for part in parts for index in range(len(part))]
    given = [dataset_classes(part) for part in parts]
    labels = [_label_list(info.get('gt_label'), name) for info in infos]
    classes = given[0]
    faults = []
    if not classes:
        highest = max((label for ids in labels for label in ids), default=-1)
        classes = tuple(map(str, range(highest + 1)))
        faults.append(Fault('unnamed-classes', name, 'they are shown as numbers'))
    faults += [
        Fault('different-classes', name, f'part {number} of the {len(parts)} joined')
        for number, names in enumerate(given, start=1)
        if names != given[0]
    ]
    several = any(np.ndim(info.get('gt_label')) == 1 for info in infos)
    split = Split(name, tuple(map(str, classes)), faults=faults, several=several)
    skipped = _skipped(parts)
    roots = [_picture_root(part) for part in parts for _ in range(len(part))]
    for index, (info, ids, root) in enumerate(zip(infos, labels, roots, strict=True)):
        row = _row(split, index, info, ids, root)
        if isinstance(row.source, str) and row.source in skipped:
            faults.append(Fault('skipped', name, row.name))
        else:
            split.rows.append(row)
    return split


def _row(split: Split, index: int, info: dict, ids: Sequence[int], root: str) -> Row:
    path, pixels = info.get('img_path'), info.get('img')
    source = path if path is not None else np.asarray(pixels) if pixels is not None else None
    name = os.path.relpath(path, root) if path and root else path or f'#{index}'
    if name.startswith('..'):
        name = path
    labels, notes = check_ids(ids, len(split.classes))
    split.faults.extend(Fault(kind, split.name, f'{name} ({text})') for kind, text in notes)
    difficult = info.get('gt_label_difficult')
    hard = tuple(map(int, difficult)) if difficult is not None else ()
    return Row(name, source, labels, hard, bool(notes))


def _label_list(value: Any, split: str) -> list[int]:
    """Class ids of a row: of one label, several or none."""
    if value is None:
        return []
    labels = np.asarray(value)
    if (labels.dtype.kind not in 'iu' and labels.size) or labels.ndim > 1:
        raise ValueError(
            f'the {split} dataset has gt_label={value!r}, expected a class id or a list of them'
        )
    return labels.reshape(-1).tolist()


def _skipped(parts: Sequence[Any]) -> set[str]:
    return {
        path
        for part in parts
        if getattr(part, 'missing_images', None) == 'skip'
        for path in find_missing(
            [
                info['img_path']
                for info in map(part.get_data_info, range(len(part)))
                if 'img_path' in info
            ]
        )
    }


def _picture_root(part: Any) -> str:
    prefix = getattr(part, 'data_prefix', None) or {}
    return str(prefix.get('img_path') or '') if isinstance(prefix, dict) else ''


def _without_pipelines(setting: Any) -> Any:
    """Copy the config of a dataset with empty pipelines, also in the datasets it wraps."""
    if isinstance(setting, list | tuple):
        return type(setting)(_without_pipelines(item) for item in setting)
    if not isinstance(setting, dict):
        return deepcopy(setting)
    return {
        key: [] if key == 'pipeline' else _without_pipelines(value)
        for key, value in setting.items()
    }
