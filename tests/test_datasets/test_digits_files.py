from __future__ import annotations

import multiprocessing
import multiprocessing.synchronize
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from mmshufflemix.datasets.digits import CLASSES
from mmshufflemix.datasets.digits_files import write_digits, write_single_digits
from mmshufflemix.datasets.voc_multi_label import VOCMultiLabel


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob('*'))
        if path.is_file()
    }


@pytest.fixture(scope='module')
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_digits(tmp_path_factory.mktemp('data') / 'digits_voc', n_train=40, n_test=20)


def _names(root: Path, split: str) -> list[str]:
    return (root / 'ImageSets' / 'Main' / f'{split}.txt').read_text().split()


def test_lists_name_every_canvas_once(root: Path):
    train, val, trainval, test = (
        _names(root, split) for split in ('train', 'val', 'trainval', 'test')
    )
    assert train + val == trainval
    assert [len(part) for part in (train, val, test)] == [32, 8, 20]
    assert sorted(trainval + test) == [path.stem for path in sorted(root.glob('JPEGImages/*.jpg'))]
    assert sorted(trainval + test) == [path.stem for path in sorted(root.glob('Annotations/*.xml'))]


def test_annotations_describe_their_pictures(root: Path):
    difficult = 0
    for path in root.glob('Annotations/*.xml'):
        tree = ET.parse(path).getroot()
        with Image.open(root / 'JPEGImages' / tree.findtext('filename', '')) as image:
            width, height = (int(tree.findtext(f'size/{key}', '')) for key in ('width', 'height'))
            assert image.size == (width, height)
            assert image.format == 'JPEG'
        objects = tree.findall('object')
        assert objects
        for item in objects:
            assert item.findtext('name') in CLASSES
            box = [int(item.findtext(f'bndbox/{key}', '')) for key in ('xmin', 'xmax')]
            assert 1 <= box[0] <= box[1] <= width
            box = [int(item.findtext(f'bndbox/{key}', '')) for key in ('ymin', 'ymax')]
            assert 1 <= box[0] <= box[1] <= height
            difficult += item.findtext('difficult') == '1'
    assert difficult > 0


def test_the_dataset_reads_the_labels_of_the_xml_files(root: Path):
    dataset = VOCMultiLabel(
        str(root), split='test', test_mode=True, metainfo=dict(classes=CLASSES), pipeline=[]
    )
    assert len(dataset) == 20
    for index in range(len(dataset)):
        info = dataset.get_data_info(index)
        tree = ET.parse(root / 'Annotations' / f'{Path(info["img_path"]).stem}.xml').getroot()
        names = {item.findtext('name') for item in tree.findall('object')}
        assert {CLASSES[i] for i in info['gt_label'] + info['gt_label_difficult']} == names


def test_equal_seeds_give_equal_bytes(root: Path, tmp_path: Path):
    again = write_digits(tmp_path / 'again', n_train=40, n_test=20)
    assert _contents(again) == _contents(root)
    other = write_digits(tmp_path / 'other', n_train=40, n_test=20, seed=1)
    assert _contents(other)['JPEGImages/000000.jpg'] != _contents(root)['JPEGImages/000000.jpg']


def test_more_training_canvases_leave_the_test_canvases_alone(root: Path, tmp_path: Path):
    larger = write_digits(tmp_path / 'larger', n_train=50, n_test=20)
    for here, there in zip(_names(root, 'test'), _names(larger, 'test'), strict=True):
        picture = (root / 'JPEGImages' / f'{here}.jpg').read_bytes()
        assert picture == (larger / 'JPEGImages' / f'{there}.jpg').read_bytes()


def test_a_complete_set_is_not_touched(root: Path):
    before = {path: path.stat().st_mtime_ns for path in root.rglob('*')}

    def never(steps: range) -> Iterable[int]:
        raise AssertionError('it drew anew')

    assert write_digits(root, n_train=40, n_test=20, progress=never) == root
    assert {path: path.stat().st_mtime_ns for path in root.rglob('*')} == before


def test_an_interrupted_build_leaves_nothing(tmp_path: Path):
    def interrupted(steps: range) -> Iterator[int]:
        yield from steps[:5]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_digits(tmp_path / 'digits_voc', 40, 20, progress=interrupted)
    assert list(tmp_path.iterdir()) == []


def _build(root: str, barrier: multiprocessing.synchronize.Barrier) -> None:
    def together(steps: range) -> Iterator[int]:
        barrier.wait()
        yield from steps

    write_digits(root, 40, 20, progress=together)


def test_two_builders_at_once_do_not_mix(root: Path, tmp_path: Path):
    context = multiprocessing.get_context('fork')
    target = tmp_path / 'digits_voc'
    barrier = context.Barrier(2)
    builders = [context.Process(target=_build, args=(str(target), barrier)) for _ in range(2)]
    for builder in builders:
        builder.start()
    for builder in builders:
        builder.join()
    assert [builder.exitcode for builder in builders] == [0, 0]
    assert list(tmp_path.iterdir()) == [target]
    assert _contents(target) == _contents(root)


def test_a_set_of_other_settings_is_refused(root: Path):
    with pytest.raises(ValueError, match=r"was built with .*'n_train': 40.*delete the folder"):
        write_digits(root, n_train=41, n_test=20)


def test_a_foreign_folder_is_refused(tmp_path: Path):
    (tmp_path / 'photos').mkdir()
    with pytest.raises(FileExistsError, match='exists but is no digit set'):
        write_digits(tmp_path / 'photos', 40, 20)
    with pytest.raises(FileExistsError, match='exists but is no digit set'):
        write_single_digits(tmp_path / 'photos')


@pytest.mark.parametrize('counts', [(1, 5), (5, 0)])
def test_too_few_canvases_are_refused(tmp_path: Path, counts: tuple[int, int]):
    with pytest.raises(ValueError, match='at least 2 training and 1 test canvases'):
        write_digits(tmp_path / 'digits_voc', *counts)


def test_single_digits_split_the_1797_sources(tmp_path: Path):
    root = write_single_digits(tmp_path / 'digits_single')
    files = {split: list((root / split).rglob('*.png')) for split in ('train', 'test')}
    assert len(files['train']) + len(files['test']) == 1797
    assert {path.parent.name for path in files['test']} == set(CLASSES)
    with Image.open(files['train'][0]) as image:
        assert image.size == (32, 32)
    # The same picture may not be on both sides, except where the source repeats itself.
    train, test = ({path.read_bytes() for path in paths} for paths in files.values())
    assert not train & test


def test_single_digit_sets_of_another_seed_are_refused(tmp_path: Path):
    write_single_digits(tmp_path / 'digits_single')
    with pytest.raises(ValueError, match='delete the folder'):
        write_single_digits(tmp_path / 'digits_single', seed=1)


def test_single_digits_are_upright_enlargements(tmp_path: Path):
    root = write_single_digits(tmp_path / 'digits_single')
    path = root / 'train' / 'one' / '0000.png'
    picture = np.asarray(Image.open(path), dtype=float)
    cells = picture.reshape(8, 4, 8, 4).mean(axis=(1, 3))
    source = load_digits()
    ones = source.images[source.target == 1]
    distances = np.abs(ones * 16 - cells).mean(axis=(1, 2))
    assert distances.min() < 12
