"""Datasets of configs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from mmengine.config import Config
from mmpretrain.utils import register_all_modules

import mmshufflemix  # noqa: F401
from mmshufflemix.dataset_check import check_dataset
from mmshufflemix.dataset_check.readers.config import read_config_splits
from tests.image_trees import save_picture, write_tiles
from tests.test_dataset_check.folders import items, write_json_folder
from tests.voc_tree import write_voc_tree


@pytest.fixture(autouse=True)
def _registered() -> None:
    register_all_modules()


def config(**datasets: dict) -> Config:
    return Config({f'{name}_dataloader': {'dataset': value} for name, value in datasets.items()})


def test_multi_label_datasets_and_one_that_refuses(tmp_path: Path) -> None:
    tree = write_voc_tree(
        tmp_path / 'VOC2007',
        {'a': [('cat', False), ('dog', True)], 'b': [('cow', False)], 'c': [('cow', False)]},
        {'trainval': ['a', 'b', 'c']},
    )
    (tree / 'JPEGImages' / 'c.jpg').unlink()
    pipeline = [{'type': 'LoadImageFromFile'}]
    train = {
        'type': 'VOCMultiLabel',
        'data_root': str(tree),
        'missing_images': 'skip',
        'pipeline': pipeline,
    }
    folder = write_json_folder(tmp_path / 'set', {'val': [('x.png', [7])]})
    val = {'type': 'MultiLabelJSON', 'data_root': str(folder), 'ann_file': 'val.json'}
    dataset = read_config_splits(config(train=train, val=val), 'mine.py')
    assert [split.name for split in dataset.splits] == ['train']
    rows = dataset.splits[0].rows
    assert [(row.name, row.labels, row.difficult) for row in rows] == [
        ('a.jpg', (7, 11), (11,)),
        ('b.jpg', (9,), ()),
    ]
    found = items(check_dataset(dataset).findings)
    assert found['skipped', 'train'] == ('c.jpg',)
    assert 'gt_label in row 1 of' in found['unreadable-split', 'val'][0]
    assert '\n' not in found['unreadable-split', 'val'][0]


def test_missing_pictures_are_listed_where_the_config_does_not_skip_them(tmp_path: Path) -> None:
    folder = write_json_folder(tmp_path / 'set', {'train': [('x.png', [1]), ('y.png', [0])]})
    (folder / 'images' / 'x.png').unlink()
    train = {
        'type': 'MultiLabelJSON',
        'data_root': str(folder),
        'ann_file': 'train.json',
        'data_prefix': 'images',
        'pipeline': [{'type': 'LoadImageFromFile'}],
    }
    found = items(check_dataset(read_config_splits(config(train=train), 'c.py')).findings)
    assert found['missing', 'train'] == ('x.png (no such file)',)


def test_unchecked_labels_of_mmpretrain(tmp_path: Path) -> None:
    rows = [
        {'img_path': 'a.png', 'gt_label': [0, 5]},
        {'img_path': 'b.png', 'gt_label': [1, 1]},
        {'img_path': 'c.png', 'gt_label': []},
    ]
    content = {'metainfo': {'classes': ['cat', 'dog']}, 'data_list': rows}
    (tmp_path / 'train.json').write_text(json.dumps(content))
    train = {'type': 'MultiLabelDataset', 'data_root': str(tmp_path), 'ann_file': 'train.json'}
    dataset = read_config_splits(config(train=train), 'c.py')
    found = items(check_dataset(dataset, with_pictures=False).findings)
    assert found['out-of-range', 'train'] == ('a.png (5)',)
    assert found['repeated-id', 'train'] == ('b.png (1, 1)',)
    assert found['no-label', 'train'] == ('c.png',)


def test_wrappers_subsets_and_pictures_in_memory(tmp_path: Path) -> None:
    root = write_tiles(tmp_path / 'tiles')  # 3 classes, 6 and 3 pictures each
    tiles = {'type': 'CIFARTiles', 'data_root': str(root), 'split': 'train'}
    subset = {'type': 'ClassSubset', 'dataset': tiles, 'classes': ['plum', 'pear'], 'per_class': 2}
    train = {'type': 'RepeatDataset', 'times': 3, 'dataset': subset}
    val = {'type': 'ConcatDataset', 'datasets': [{**tiles, 'split': 'test'}, tiles]}
    dataset = read_config_splits(config(train=train, val=val, test=val), 'c.py')
    assert [(s.name, len(s.rows), s.classes, s.several) for s in dataset.splits] == [
        ('train', 4, ('plum', 'pear'), False),
        ('val/test', 27, ('apple', 'pear', 'plum'), False),
    ]
    assert [row.labels for row in dataset.splits[0].rows] == [(1,), (1,), (0,), (0,)]
    assert np.asarray(dataset.splits[0].rows[0].source).shape == (32, 32, 3)
    result = check_dataset(dataset)
    found = items(result.findings)
    assert len(found['leak', 'train, val/test']) == 4
    assert found['different-classes', 'val/test'] == ("class 0 is 'apple', but 'plum' in train",)
    assert {(p.width, p.height, p.mode) for p in result.pictures.values()} == {(32, 32, 'RGB')}


def test_class_folders(tmp_path: Path) -> None:
    for index, name in enumerate(('cat/a.png', 'cat/b.png', 'dog/c.png')):
        save_picture(tmp_path / 'data' / name, index)
    train = {'type': 'CustomDataset', 'data_root': str(tmp_path / 'data')}
    split = read_config_splits(config(train=train), 'c.py').splits[0]
    assert split.classes == ('cat', 'dog')
    assert [(row.name, row.labels) for row in split.rows] == [
        ('cat/a.png', (0,)),
        ('cat/b.png', (0,)),
        ('dog/c.png', (1,)),
    ]


def test_a_config_without_data_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'c\.py' has no dataset in a train, val or test"):
        read_config_splits(Config({'model': {}}), 'c.py')
