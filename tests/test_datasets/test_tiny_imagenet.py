from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from mmpretrain.registry import DATASETS
from PIL import Image

from mmshufflemix.datasets import TinyImageNet
from mmshufflemix.datasets.tiny_imagenet import class_names, read_words
from tests.image_trees import write_tiny_imagenet

PIPELINE = [dict(type='LoadImageFromFile'), dict(type='PackInputs')]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tiny_imagenet(tmp_path / 'tiny')


def test_train_is_ordered_by_sorted_wnid(root: Path):
    dataset = DATASETS.build(dict(type='TinyImageNet', data_root=str(root), split='train'))
    assert (root / 'wnids.txt').read_text().split() == ['n02', 'n01', 'n03']
    assert dataset.metainfo['wnids'] == ('n01', 'n02', 'n03')
    assert len(dataset) == 12
    for info in dataset:
        folder = Path(info['img_path']).parent.parent.name
        assert dataset.metainfo['wnids'][info['gt_label']] == folder


def test_val_follows_its_list(root: Path):
    dataset = TinyImageNet(str(root), 'val', pipeline=PIPELINE, test_mode=True)
    expected = {}
    for line in (root / 'val' / 'val_annotations.txt').read_text().splitlines():
        name, wnid = line.split('\t')[:2]
        expected[name] = int(wnid[-1]) - 1
    found = {
        Path(sample['data_samples'].img_path).name: sample['data_samples'].gt_label.item()
        for sample in dataset
    }
    assert found == expected


def test_readable_names(root: Path):
    assert TinyImageNet(str(root)).CLASSES == ('cat, house cat', 'crane (n02)', 'crane (n03)')
    (root / 'words.txt').unlink()
    assert TinyImageNet(str(root)).CLASSES == ('n01', 'n02', 'n03')
    assert TinyImageNet(str(root), classes=('a', 'b', 'c')).CLASSES == ('a', 'b', 'c')
    assert class_names(['n1', 'n2'], {'n2': 'dog'}) == ('n1', 'dog')
    assert read_words(root / 'words.txt') == {}


def test_both_splits_have_the_same_classes(root: Path):
    assert TinyImageNet(str(root)).metainfo == TinyImageNet(str(root), 'val').metainfo


def test_grey_pictures_get_three_channels(root: Path):
    dataset = TinyImageNet(str(root), pipeline=PIPELINE)
    modes = [Image.open(info['img_path']).mode for info in TinyImageNet(str(root))]
    assert modes.count('L') == 3
    for mode, sample in zip(modes, dataset, strict=True):
        blue, green, red = sample['inputs']
        assert sample['inputs'].shape == (3, 64, 64)
        assert (mode == 'L') == (blue.equal(green) and green.equal(red))


def empty(path: Path) -> None:
    path.write_text('\n')


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


def clear(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


@pytest.mark.parametrize(
    ('split', 'change', 'error', 'message'),
    [
        ('train', lambda r: (r / 'wnids.txt').unlink(), FileNotFoundError, r'wnids\.txt does not'),
        ('train', lambda r: empty(r / 'wnids.txt'), ValueError, r'wnids\.txt is empty'),
        ('train', lambda r: (r / 'wnids.txt').write_bytes(b'\xff'), ValueError, r'not UTF-8 text'),
        ('train', lambda r: append(r / 'wnids.txt', 'n01\n'), ValueError, r'n01 repeated'),
        ('train', lambda r: append(r / 'wnids.txt', '../n\n'), ValueError, r'leads out'),
        (
            'train',
            lambda r: append(r / 'wnids.txt', 'n04\n'),
            FileNotFoundError,
            r'1 of the 4 classes of wnids\.txt have no folder in .*train: n04',
        ),
        (
            'train',
            lambda r: clear(r / 'train' / 'n01' / 'images'),
            ValueError,
            r'n01.images has no picture',
        ),
        (
            'val',
            lambda r: (r / 'val' / 'val_annotations.txt').unlink(),
            FileNotFoundError,
            r'val_annotations\.txt does not exist; set data_root',
        ),
        ('val', lambda r: empty(r / 'val' / 'val_annotations.txt'), ValueError, r'is empty'),
        (
            'val',
            lambda r: append(r / 'val' / 'val_annotations.txt', 'a.JPEG\tn09\t0\t0\t1\t1\n'),
            ValueError,
            r"line 7 of .* has the class 'n09', which is not in wnids\.txt \(3 classes: n01",
        ),
        (
            'val',
            lambda r: append(r / 'val' / 'val_annotations.txt', 'a.JPEG\n'),
            ValueError,
            r"line 7 of .* is 'a\.JPEG', expected a picture name and a WordNet id",
        ),
        (
            'val',
            lambda r: append(r / 'val' / 'val_annotations.txt', '../a.JPEG n01\n'),
            ValueError,
            r'leads out of the image folder',
        ),
        (
            'val',
            lambda r: (r / 'val' / 'images' / 'val_3.JPEG').unlink(),
            FileNotFoundError,
            r'1 of 6 images are missing: .*val_3\.JPEG',
        ),
    ],
)
def test_names_what_is_wrong(
    root: Path, split: str, change: Callable[[Path], None], error: type[Exception], message: str
):
    change(root)
    with pytest.raises(error, match=message):
        TinyImageNet(str(root), split, pipeline=PIPELINE)


def test_refuses_the_test_split_and_other_classes(root: Path):
    with pytest.raises(ValueError, match=r'the test pictures have no labels'):
        TinyImageNet(str(root), 'test')
    with pytest.raises(TypeError, match=r'data_root must be the folder .* got None'):
        TinyImageNet(None)
    with pytest.raises(ValueError, match=r'has 3 classes but `classes` has 2 names'):
        TinyImageNet(str(root), classes=('a', 'b'))


def test_missing_pictures_can_be_skipped(root: Path):
    (root / 'val' / 'images' / 'val_3.JPEG').unlink()
    dataset = TinyImageNet(str(root), 'val', pipeline=PIPELINE, missing_images='skip')
    assert len(dataset) == 5


def test_a_broken_picture_is_named(root: Path):
    path = root / 'train' / 'n01' / 'images' / 'n01_2.JPEG'
    path.write_bytes(path.read_bytes()[:200])
    dataset = TinyImageNet(str(root), pipeline=PIPELINE)
    with pytest.raises(ValueError, match=r'cannot decode the image .*n01_2\.JPEG'):
        dataset[2]


@pytest.mark.parametrize(('split', 'count'), [('train', 30), ('val', 10)])
def test_real_pictures(shared_data: Path, tmp_path: Path, split: str, count: int):
    archive = shared_data / 'tiny_imagenet_subset.tar'
    if not archive.is_file():
        pytest.skip(f'no {archive}')
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter='data')
    root = tmp_path / 'tiny_imagenet_subset'
    dataset = TinyImageNet(str(root), split, pipeline=PIPELINE)
    assert dataset.metainfo['wnids'] == tuple(sorted((root / 'wnids.txt').read_text().split()))
    assert dataset.CLASSES[0] == 'goldfish, Carassius auratus'
    assert np.bincount(dataset.get_gt_labels()).tolist() == [count] * 20
    assert {tuple(sample['inputs'].shape) for sample in dataset} == {(3, 64, 64)}
