from __future__ import annotations

import io
from pathlib import Path

import cv2
import mmcv
import numpy as np
import pytest
from mmcv.transforms import LoadImageFromFile
from PIL import Image

from mmshufflemix.datasets import LoadReducedImage, MultiScaleCrop, VOCMultiLabel
from mmshufflemix.datasets.multi_scale_crop import crop_sizes
from mmshufflemix.datasets.reduced_jpeg import min_side_of_crop, read_jpeg_header, reduction
from tests.voc_tree import write_voc_tree


def smooth_picture(height: int = 120, width: int = 161) -> Image.Image:
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC))


def save(path: Path, picture: Image.Image, **options) -> str:
    picture.save(path, **options)
    return str(path)


def turned(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x112] = orientation
    return exif


def load(transform, path: str) -> dict:
    return transform.transform({'img_path': path, 'gt_label': [1]})


def same_as_plain(path: str, min_side: int) -> bool:
    got, expected = load(LoadReducedImage(min_side), path), load(LoadImageFromFile(), path)
    assert got.keys() == expected.keys()
    assert got['ori_shape'] == expected['ori_shape']
    return got['img_shape'] == expected['img_shape'] and np.array_equal(got['img'], expected['img'])


def test_reduction_by_trial():
    for short_side in range(1, 200):
        for min_side in (1, 5, 24, 25, 26, 100, 150):
            kept = {k: len(range(0, short_side, k)) for k in (1, 2, 4, 8)}
            allowed = [k for k, side in kept.items() if k == 1 or side >= min_side]
            assert reduction(short_side, min_side) == max(allowed)


@pytest.mark.parametrize('scale', [1, 0.875, 0.75, 0.66, 0.5, 0.29, 0.07])
def test_min_side_is_the_least_without_an_enlarged_crop(scale):
    def smallest(side: int) -> int:
        return min(min(size) for size in crop_sizes(side, 2 * side, (1, scale), 2))

    for size in (2, 29, 70, 96, 224, 448):
        side = min_side_of_crop(size, scale)
        assert smallest(side) >= size
        assert smallest(side - 1) < size


def test_paper_crop_needs_896_pixels():
    assert min_side_of_crop(448, min(MultiScaleCrop(448).scales)) == 896


@pytest.mark.parametrize(('min_side', 'shape'), [(61, (120, 161)), (60, (60, 81)), (30, (30, 41))])
def test_jpeg_is_reduced_where_the_short_side_allows(tmp_path, min_side, shape):
    path = save(tmp_path / 'a.jpg', smooth_picture(), quality=95)
    results = load(LoadReducedImage(min_side), path)
    assert results['img'].shape == (*shape, 3)
    assert results['img'].dtype == np.uint8
    assert results['img_shape'] == shape
    assert results['ori_shape'] == (120, 161)


def test_reduced_pixels_are_block_means(tmp_path):
    path = save(tmp_path / 'a.jpg', smooth_picture(120, 160), quality=95, subsampling=0)
    whole = load(LoadImageFromFile(), path)['img'].astype(float)
    reduced = load(LoadReducedImage(60), path)['img']
    means = whole.reshape(60, 2, 80, 2, 3).mean(axis=(1, 3))
    assert np.abs(reduced - means).max() <= 4


@pytest.mark.parametrize('orientation', range(1, 9))
def test_exif_turns_the_reduced_picture_as_the_whole(tmp_path, orientation):
    path = save(tmp_path / 'a.jpg', smooth_picture(), exif=turned(orientation), quality=95)
    whole = load(LoadImageFromFile(), path)
    reduced = load(LoadReducedImage(60), path)
    height, width = whole['img_shape']
    assert reduced['ori_shape'] == (height, width)
    assert reduced['img_shape'] == ((height + 1) // 2, (width + 1) // 2)
    expected = mmcv.imresize(whole['img'], (width // 2, height // 2), interpolation='area')
    got = mmcv.imresize(reduced['img'], (width // 2, height // 2))
    # A missed turn leaves most of the picture tens of grey levels off.
    assert np.abs(expected.astype(int) - got).mean() < 3


@pytest.mark.parametrize('orientation', [3, 6])
def test_xmp_does_not_turn(tmp_path, orientation):
    xmp = f'<x:xmpmeta xmlns:x="adobe:ns:meta/" tiff:Orientation="{orientation}"></x:xmpmeta>'
    path = save(tmp_path / 'a.jpg', smooth_picture(), xmp=xmp.encode())
    header = read_jpeg_header(Path(path).read_bytes())
    assert header == (120, 161, False)
    assert load(LoadReducedImage(60), path)['ori_shape'] == (120, 161)


@pytest.mark.parametrize(
    ('name', 'mode', 'options'),
    [
        ('a.png', 'RGB', {}),
        ('a.bmp', 'RGB', {}),
        ('a.jpg', 'L', {}),
        ('a.jpg', 'CMYK', {}),
        # A PNG under a wrong name.
        ('a.jpg', 'RGB', {'format': 'PNG'}),
    ],
)
def test_everything_else_is_loaded_as_before(tmp_path, name, mode, options):
    path = save(tmp_path / name, smooth_picture().convert(mode), **options)
    assert same_as_plain(path, min_side=10)


@pytest.mark.parametrize('options', [{'progressive': True}, {'subsampling': 2}, {'keep_rgb': True}])
def test_small_jpeg_is_loaded_as_before_and_every_kind_is_reduced(tmp_path, options):
    path = save(tmp_path / 'a.jpg', smooth_picture(), **options)
    assert same_as_plain(path, min_side=61)
    assert not same_as_plain(path, min_side=60)


def test_float_and_repr(tmp_path):
    path = save(tmp_path / 'a.jpg', smooth_picture())
    transform = LoadReducedImage(60, to_float32=True)
    assert load(transform, path)['img'].dtype == np.float32
    assert 'min_side=60' in repr(transform)


def test_missing_and_broken_files_as_in_the_plain_loader(tmp_path):
    buffer = io.BytesIO()
    smooth_picture().save(buffer, 'JPEG')
    broken = tmp_path / 'broken.jpg'
    for content in (b'', b'no picture', buffer.getvalue()[: len(buffer.getvalue()) // 2]):
        broken.write_bytes(content)
        for path in (str(broken), str(tmp_path / 'missing.jpg')):
            with pytest.raises(Exception) as expected:  # noqa: PT011
                load(LoadImageFromFile(), path)
            with pytest.raises(type(expected.value)):
                load(LoadReducedImage(10), path)
    assert load(LoadReducedImage(10, ignore_empty=True), str(tmp_path / 'missing.jpg')) is None


def test_min_side_below_one_is_refused():
    with pytest.raises(ValueError, match='min_side must be at least 1 pixel, got 0'):
        LoadReducedImage(0)


def dataset(root: Path, size: int) -> VOCMultiLabel:
    pipeline = [
        {'type': 'LoadReducedImage', 'min_side': min_side_of_crop(size, 0.5)},
        {'type': 'MultiScaleCrop', 'size': size},
        {'type': 'PackInputs'},
    ]
    return VOCMultiLabel(data_root=str(root), split='trainval', pipeline=pipeline)


@pytest.fixture
def voc_root(tmp_path) -> Path:
    images = {'000001': [('dog', False)], '000002': [('cat', False)]}
    splits = {'trainval': list(images), 'test': []}
    return write_voc_tree(tmp_path / 'VOC2007', images, splits, size=(90, 70))


def test_within_a_dataset(voc_root):
    sample = dataset(voc_root, 16)[0]
    assert sample['inputs'].shape == (3, 16, 16)
    assert sample['data_samples'].ori_shape == (70, 90)


def test_broken_picture_of_a_dataset_is_named(voc_root):
    path = voc_root / 'JPEGImages' / '000002.jpg'
    path.write_bytes(path.read_bytes()[:900])
    with pytest.raises(ValueError, match=r'cannot decode the image .*000002\.jpg'):
        dataset(voc_root, 16)[1]


# Grey levels of 640 x 480 photographs resized to 224 px: mean, and 99th percentile.
TOLERANCE = (5, 45)


def test_real_photographs_stay_within_the_stated_tolerance(shared_data):
    paths = sorted((shared_data / 'coco_subset' / 'train2017').glob('*.jpg'))
    off, reduced_aliasing, whole_aliasing = [], [], []
    for path in paths:
        whole, reduced = (
            load(loader, str(path))['img']
            for loader in (LoadImageFromFile(), LoadReducedImage(224))
        )
        if reduced.shape == whole.shape:
            assert min(whole.shape[:2]) < 447
            continue
        area = mmcv.imresize(whole, (224, 224), interpolation='area').astype(int)
        first, second = (mmcv.imresize(image, (224, 224)) for image in (whole, reduced))
        off.append(np.abs(first.astype(int) - second))
        whole_aliasing.append(np.abs(area - first).mean())
        reduced_aliasing.append(np.abs(area - second).mean())
    if not off:
        pytest.skip('no COCO photographs')
    mean, percentile = TOLERANCE
    assert 0 < np.mean(off) < mean
    assert np.percentile(off, 99) < percentile
    # What differs is aliasing: the reduced ones are closer to the mean over each pixel's area.
    assert np.mean(reduced_aliasing) < np.mean(whole_aliasing)
