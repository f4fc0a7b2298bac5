from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mmpretrain.datasets import CustomDataset
from mmpretrain.datasets.categories import CIFAR100_CATEGORIES
from mmpretrain.registry import DATASETS
from PIL import Image

from mmshufflemix.datasets import CIFARTiles
from mmshufflemix.datasets.cifar_tiles import read_tiles, tile_files
from mmshufflemix.datasets.unpack_tiles import unpack_tiles
from tests.image_trees import write_tiles
from tests.tool_runner import call_tool


@pytest.fixture(scope='module')
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiles(tmp_path_factory.mktemp('tiles'))


def cut(path: Path) -> list[np.ndarray]:
    """Cut a picture into tiles by slicing."""
    pixels = np.asarray(Image.open(path))
    return [
        pixels[top : top + 32, left : left + 32]
        for top in range(0, pixels.shape[0], 32)
        for left in range(0, pixels.shape[1], 32)
    ]


def test_reads_the_tiles_row_by_row(root: Path):
    path = root / 'train' / 'apple.webp'
    np.testing.assert_array_equal(read_tiles(path), cut(path))
    assert read_tiles(path).dtype == np.uint8


@pytest.mark.parametrize(('split', 'count'), [('train', 6), ('test', 3)])
def test_samples_are_those_of_the_sorted_files(root: Path, split: str, count: int):
    dataset = DATASETS.build(dict(type='CIFARTiles', data_root=str(root), split=split))
    assert dataset.CLASSES == ('apple', 'pear', 'plum')
    assert dataset.get_gt_labels().tolist() == [label for label in range(3) for _ in range(count)]
    expected = [tile for name in dataset.CLASSES for tile in cut(root / split / f'{name}.webp')]
    np.testing.assert_array_equal([info['img'] for info in dataset], expected)


def test_pictures_are_rgb_like_those_of_cifar100(tmp_path: Path):
    for split in ('train', 'test'):
        (tmp_path / split).mkdir()
        picture = Image.new('RGB', (32, 32), (255, 0, 0))
        picture.save(tmp_path / split / 'red.webp', lossless=True)
    assert CIFARTiles(str(tmp_path))[0]['img'][0, 0].tolist() == [255, 0, 0]


def test_real_set_is_cifar100(shared_data: Path):
    root = shared_data / 'cifar100'
    if not root.is_dir():
        pytest.skip(f'no CIFAR-100 in {shared_data}')
    dataset = CIFARTiles(str(root), 'test')
    assert dataset.CLASSES == tuple(CIFAR100_CATEGORIES)
    assert np.bincount(dataset.get_gt_labels()).tolist() == [100] * 100
    means = np.mean([dataset[index]['img'].mean((0, 1)) for index in range(len(dataset))], axis=0)
    # The training set's mean; the test set's differs by less than one grey level.
    np.testing.assert_allclose(means, [129.3, 124.1, 112.4], atol=1)


@pytest.mark.parametrize(
    ('change', 'error', 'message'),
    [
        (lambda root: (root / 'test' / 'apple.webp').unlink(), ValueError, r'differ in 1 classes'),
        (
            lambda root: Image.new('RGB', (32, 40)).save(root / 'train' / 'apple.webp'),
            ValueError,
            r'32 x 40 pixels, expected multiples of 32',
        ),
        (
            lambda root: (root / 'train' / 'apple.webp').write_bytes(b'RIFF'),
            ValueError,
            r'cannot decode .*apple\.webp',
        ),
        (
            lambda root: (root / 'train').rename(root / 'other'),
            FileNotFoundError,
            r'train has no <class>\.webp',
        ),
    ],
)
def test_names_what_is_wrong(tmp_path: Path, change, error: type[Exception], message: str):
    root = write_tiles(tmp_path)
    change(root)
    with pytest.raises(error, match=message):
        CIFARTiles(str(root))


def test_refuses_other_splits_and_classes(root: Path):
    with pytest.raises(ValueError, match=r"split must be 'train' or 'test', got 'val'"):
        CIFARTiles(str(root), 'val')
    with pytest.raises(TypeError, match=r'data_root must be the folder .* got None'):
        CIFARTiles(None)
    with pytest.raises(ValueError, match=r'classes \(pear, apple, plum\) differ from the files'):
        CIFARTiles(str(root), classes=('pear', 'apple', 'plum'))


def test_unpacked_folders_hold_the_same_pictures(root: Path, tmp_path: Path):
    target = tmp_path / 'new' / 'cifar'
    assert unpack_tiles(root, target) == 3 * (6 + 3)
    for split in ('train', 'test'):
        folder = CustomDataset(data_root=str(target), data_prefix=split)
        tiles = CIFARTiles(str(root), split)
        assert list(folder.CLASSES) == list(tiles.CLASSES)
        assert folder.get_gt_labels().tolist() == tiles.get_gt_labels().tolist()
        for info, tile in zip(folder, tiles, strict=True):
            np.testing.assert_array_equal(np.asarray(Image.open(info['img_path'])), tile['img'])
    assert [path.name for path in target.parent.iterdir()] == ['cifar']


def test_unfinished_output_has_no_final_name(tmp_path: Path):
    source = write_tiles(tmp_path / 'source')
    (source / 'test' / 'plum.webp').write_bytes(b'broken')
    with pytest.raises(ValueError, match=r'plum\.webp'):
        unpack_tiles(source, tmp_path / 'out' / 'cifar')
    assert list((tmp_path / 'out').iterdir()) == []


def test_tool_unpacks_once(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture):
    call_tool('unpack_cifar100', root, tmp_path / 'out')
    assert '27 images' in capsys.readouterr().out
    assert len(list((tmp_path / 'out').rglob('*.png'))) == 27
    with pytest.raises(FileExistsError, match=r'exists already; name another folder'):
        call_tool('unpack_cifar100', root, tmp_path / 'out')


def test_files_of_one_split_alone_are_enough(tmp_path: Path):
    root = write_tiles(tmp_path)
    for path in (root / 'test').iterdir():
        path.unlink()
    assert list(tile_files(root, 'train')) == ['apple', 'pear', 'plum']
