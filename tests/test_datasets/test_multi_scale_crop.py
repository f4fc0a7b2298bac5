from __future__ import annotations

import cv2
import numpy as np
import pytest
import torch
from mmpretrain.registry import TRANSFORMS

from mmshufflemix.datasets.multi_scale_crop import MultiScaleCrop, crop_offsets, crop_sizes

SCALES = (1, 0.875, 0.75, 0.66, 0.5)


def test_sizes_by_loop():
    sides = [200, 175, 150, 132, 100]
    expected = []
    for i in range(5):
        for j in range(5):
            if j - 2 <= i <= j + 2:
                expected.append((sides[i], sides[j]))
    assert crop_sizes(300, 200, SCALES, 2) == expected
    assert crop_sizes(200, 300, SCALES, 2) == expected
    assert len(expected) == 19


def test_sizes_without_distortion_are_square():
    assert crop_sizes(100, 101, SCALES, 0) == [(s, s) for s in (100, 87, 75, 66, 50)]


def test_sizes_of_a_tiny_image_are_at_least_one_pixel():
    assert set(crop_sizes(1, 5, SCALES, 2)) == {(1, 1)}


def test_offsets_by_hand():
    # Free space 40 down and 80 across.
    corners = {(0, 0), (0, 80), (40, 0), (40, 80)}
    middles = {(0, 40), (40, 40), (20, 0), (20, 80)}
    quarters = {(10, 20), (10, 60), (30, 20), (30, 60)}
    offsets = crop_offsets(140, 180, 100, 100)
    assert len(offsets) == 13
    assert set(offsets) == corners | middles | quarters | {(20, 40)}


@pytest.mark.parametrize('shape', [(33, 57), (100, 100), (7, 500), (1, 1)])
def test_every_crop_lies_in_the_image_and_corners_touch_it(shape):
    height, width = shape
    for crop_h, crop_w in crop_sizes(height, width, SCALES, 2):
        offsets = crop_offsets(height, width, crop_h, crop_w)
        assert all(0 <= top <= height - crop_h for top, _ in offsets)
        assert all(0 <= left <= width - crop_w for _, left in offsets)
        assert (height - crop_h, width - crop_w) in offsets
        assert (0, 0) in offsets


def possible(image, size):
    height, width = image.shape[:2]
    for crop_h, crop_w in crop_sizes(height, width, SCALES, 2):
        for top, left in crop_offsets(height, width, crop_h, crop_w):
            crop = image[top : top + crop_h, left : left + crop_w]
            yield cv2.resize(crop, (size, size), interpolation=cv2.INTER_LINEAR).tobytes()


def test_result_is_one_of_the_crops_and_many_are_drawn():
    image = np.random.default_rng(0).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    allowed = set(possible(image, 16))
    transform = TRANSFORMS.build({'type': 'MultiScaleCrop', 'size': 16})
    torch.manual_seed(0)
    drawn = set()
    for _ in range(300):
        result = transform({'img': image, 'img_shape': (30, 40)})
        assert result['img'].shape == (16, 16, 3)
        assert result['img'].dtype == np.uint8
        assert result['img_shape'] == (16, 16)
        drawn.add(result['img'].tobytes())
    assert drawn <= allowed
    assert len(drawn) > 100


def test_seed_decides_and_the_image_is_not_written():
    image = np.random.default_rng(0).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    before = image.copy()
    transform = MultiScaleCrop(size=24)
    results = []
    for _ in range(2):
        torch.manual_seed(3)
        results.append([transform({'img': image})['img'] for _ in range(5)])
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(image, before)


@pytest.mark.parametrize('channels', [1, 4])
def test_channel_axis_stays(channels):
    image = np.ones((30, 40, channels), dtype=np.float32)
    result = MultiScaleCrop(size=8)({'img': image})['img']
    np.testing.assert_allclose(result, np.ones((8, 8, channels)), rtol=1e-6)


def test_default_is_448():
    assert MultiScaleCrop()({'img': np.zeros((9, 7, 3), np.uint8)})['img'].shape == (448, 448, 3)
    assert repr(MultiScaleCrop(size=8, scales=[1], max_distort=0)) == (
        'MultiScaleCrop(size=8, scales=(1,), max_distort=0)'
    )


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'size': 0}, 'size must be at least 1 pixel, got 0'),
        ({'scales': ()}, 'scales must be fractions .* at least one, got'),
        ({'scales': (1, 1.5)}, r'scales must be fractions in \(0, 1\]'),
        ({'scales': (0,)}, 'scales must be fractions'),
        ({'max_distort': -1}, 'max_distort must be at least 0, got -1'),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        MultiScaleCrop(**options)
