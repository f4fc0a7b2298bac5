"""Where the network's input lies in a picture."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from mmengine.dataset import Compose
from mmpretrain.registry import TRANSFORMS
from mmpretrain.utils import register_all_modules
from torch.nn import functional as F

from mmshufflemix.explain.placement import Placement, find_placement, place_map

CROPPED = [dict(type='ResizeEdge', scale=64), dict(type='CenterCrop', crop_size=48)]


def through(steps: list[dict[str, Any]], picture: np.ndarray) -> np.ndarray:
    register_all_modules()
    shape = picture.shape[:2]
    run = Compose([TRANSFORMS.build(step) for step in steps])
    return run(dict(img=picture, img_shape=shape, ori_shape=shape))['img']


@pytest.mark.parametrize(
    'steps',
    [
        [],
        [dict(type='Resize', scale=(48, 56))],
        [dict(type='ResizeEdge', scale=40, interpolation='area')],
        CROPPED,
        [dict(type='ResizeEdge', scale=70), dict(type='CenterCrop', crop_size=(51, 33))],
    ],
)
@pytest.mark.parametrize('shape', [(90, 120), (161, 87), (100, 100)])
def test_the_place_is_where_the_transforms_put_the_picture(
    steps: list[dict[str, Any]], shape: tuple[int, int]
) -> None:
    """Each pixel of the picture holds its row and column, so the input tells where it is from."""
    rows, columns = np.mgrid[: shape[0], : shape[1]].astype(np.float32) + 0.5
    seen = through(steps, np.stack([rows, columns, rows], axis=2))
    placement = find_placement(
        [dict(type='LoadImageFromFile'), *steps, dict(type='PackInputs')], shape, seen.shape[:2]
    )
    assert placement.unknown == ()
    top, left, bottom, right = placement.box
    height, width = seen.shape[:2]
    # At the rim the filter repeats pixels.
    for k, (start, end, length, count) in enumerate(
        ((top, bottom, shape[0], height), (left, right, shape[1], width))
    ):
        centres = (start + (end - start) * (np.arange(count) + 0.5) / count) * length
        measured = seen[..., k].mean(axis=1 - k)
        np.testing.assert_allclose(measured[2:-2], centres[2:-2], atol=0.1)


@pytest.mark.parametrize(
    ('steps', 'unknown'),
    [
        ([dict(type='RandomFlip', prob=1.0)], 'RandomFlip'),
        ([dict(type='CenterCrop', crop_size=32)], 'CenterCrop'),
        ([dict(type='Resize', scale=(48, 56), keep_ratio=True)], 'Resize'),
        ([dict(type='ResizeEdge', scale=40, edge='long')], 'ResizeEdge'),
        ([*CROPPED, dict(type='Resize', scale=(32, 32))], 'several transforms that resize'),
        ([dict(type='ResizeEdge', scale=32)], 'a crop larger than the picture'),
    ],
)
def test_other_transforms_leave_it_unknown(steps: list[dict[str, Any]], unknown: str) -> None:
    placement = find_placement(steps, (60, 90), (40, 40))
    assert placement == Placement((0.0, 0.0, 1.0, 1.0), (unknown,))


def test_a_map_over_the_whole_picture_is_resized() -> None:
    heat = np.random.default_rng(0).random((5, 7))
    expected = F.interpolate(torch.from_numpy(heat)[None, None], (40, 21), mode='bilinear')
    placed = place_map(heat, (0.0, 0.0, 1.0, 1.0), (40, 21))
    assert placed.shape == (40, 21)
    # OpenCV counts positions in 1/32 pixels.
    np.testing.assert_allclose(placed, expected[0, 0].numpy(), atol=0.04)


def test_a_map_over_a_part_leaves_the_rest_cold() -> None:
    placed = place_map(np.ones((4, 4)), (0.25, 0.1, 0.75, 0.9), (40, 100))
    expected = np.zeros((40, 100))
    expected[10:30, 10:90] = 1
    np.testing.assert_array_equal(placed, expected)
