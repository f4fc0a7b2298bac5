"""Crops and flips of batches against MMPretrain's transforms of single images."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from mmcv.transforms import RandomFlip
from mmpretrain.datasets.transforms import PackInputs, RandomCrop
from scipy.stats import chisquare

from mmshufflemix.small_images.pipeline import make_steps, split_pipeline
from mmshufflemix.small_images.views import CropStep, FlipStep, crop_batch, flip_batch


def pictures(count: int = 6, height: int = 8, width: int = 9, channels: int = 3) -> np.ndarray:
    shape = (count, height, width, channels)
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


def batch_of(images: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(images.transpose(0, 3, 1, 2).copy())


CROPS: list[dict[str, Any]] = [
    dict(crop_size=8, padding=4),
    dict(crop_size=(5, 7)),
    dict(crop_size=(8, 9), padding=(3, 1)),
    dict(crop_size=(6, 4), padding=(1, 2, 0, 3), pad_val=7),
    dict(crop_size=8, padding=2, pad_val=(9, 0, 200)),
    dict(crop_size=(8, 9)),
    dict(crop_size=5, padding=0),
    dict(crop_size=5, pad_if_needed=True),
]


@pytest.mark.parametrize('settings', CROPS)
@pytest.mark.parametrize('axes', [(3,), (1,), ()])
def test_crops_equal_those_of_the_transform(settings: dict[str, Any], axes: tuple[int, ...]):
    """Pictures (H, W, 3), (H, W, 1) and (H, W); ``img_shape`` is that of the transform, too."""
    channels = axes[0] if axes else 1
    if channels == 1 and isinstance(settings.get('pad_val'), tuple):
        pytest.skip('a value for each of three channels')
    images = pictures(channels=channels)
    images = images if axes else images[..., 0]
    transform = RandomCrop(**settings)
    [step] = make_steps([transform], images.shape[1:])
    draws = step.draw(len(images), torch.Generator().manual_seed(3))
    expected = []
    for image, (top, left) in zip(images, draws.tolist(), strict=True):
        given = (top, left, *transform.crop_size)
        with patch.object(RandomCrop, 'rand_crop_params', lambda self, img, given=given: given):
            cropped = transform.transform({'img': image})
        assert step.meta(draws) == {'img_shape': cropped['img_shape']}
        expected.append(PackInputs.format_input(cropped['img']))
    whole = batch_of(images if axes else images[..., None])
    before = whole.clone()
    result = step.apply(whole, draws)
    assert torch.equal(result, torch.stack(expected))
    assert result.is_contiguous()
    assert torch.equal(whole, before)


@pytest.mark.parametrize('direction', ['horizontal', 'vertical'])
def test_flips_equal_those_of_the_transform(direction: str):
    images = pictures()
    transform = RandomFlip(prob=0.5, direction=direction)
    [step] = make_steps([transform], images.shape[1:])
    draws = step.draw(len(images), torch.Generator().manual_seed(1))
    assert 0 < draws.sum() < len(images)
    expected, metas = [], []
    for image, flip in zip(images, draws.tolist(), strict=True):
        choice = direction if flip else None
        with patch.object(RandomFlip, '_choose_direction', lambda self, choice=choice: choice):
            flipped = transform.transform({'img': image})
        expected.append(PackInputs.format_input(flipped['img']))
        metas.append((flipped['flip'], flipped['flip_direction']))
    assert torch.equal(step.apply(batch_of(images), draws), torch.stack(expected))
    assert list(zip(*step.meta(draws).values(), strict=True)) == metas


def test_any_order_and_float_images():
    """Two crops around a flip, by loops over pixels."""
    images = torch.rand(4, 2, 6, 5)
    offsets, flips = torch.tensor([[0, 2], [1, 0], [2, 1], [2, 2]]), torch.tensor([1, 0, 1, 0]) > 0
    result = flip_batch(crop_batch(images, offsets, (4, 3)), flips, 3)
    for n in range(4):
        top, left = offsets[n].tolist()
        for row in range(4):
            for column in range(3):
                source = 2 - column if flips[n] else column
                expected = images[n, :, top + row, left + source]
                assert torch.equal(result[n, :, row, column], expected)


def test_offsets_are_uniform_and_independent():
    step = CropStep((32, 32), (8, 8), (4, 4, 4, 4), (0,), (32, 32, 3))
    draws = step.draw(81 * 400, torch.Generator().manual_seed(0))
    assert draws.min() == 0
    assert draws.max() == 8
    counts = torch.bincount(draws[:, 0] * 9 + draws[:, 1], minlength=81)
    assert chisquare(counts.numpy()).pvalue > 0.01


@pytest.mark.parametrize('probability', [0.0, 0.3, 0.5, 1.0])
def test_flips_have_their_probability(probability: float):
    count = 20000
    flips = FlipStep(probability, 'horizontal').draw(count, torch.Generator().manual_seed(0)).sum()
    spread = (count * probability * (1 - probability)) ** 0.5
    assert abs(int(flips) - count * probability) <= 2.6 * spread


def test_one_generator_gives_one_sequence():
    step = CropStep((4, 4), (8, 8), (0, 0, 0, 0), (0,), (4, 4, 3))
    one, two = (step.draw(50, torch.Generator().manual_seed(5)) for _ in range(2))
    assert torch.equal(one, two)
    torch.manual_seed(5)
    assert torch.equal(step.draw(50), one)


@pytest.mark.parametrize(
    ('transforms', 'message'),
    [
        ([], 'ends with PackInputs'),
        ([RandomCrop(4)], 'ends with PackInputs'),
        ([PackInputs(algorithm_keys=['mask'])], "algorithm_keys=\\('mask',\\)"),
        ([np, PackInputs()], 'cannot do module where it stands; it knows LoadImageFromFile'),
    ],
)
def test_other_pipelines_are_refused(transforms: list[Any], message: str):
    with pytest.raises(ValueError, match=message):
        split_pipeline(transforms)


@pytest.mark.parametrize(
    ('transform', 'message'),
    [
        (RandomCrop(12), r'crop_size=\(12, 12\) of 8 x 9 pixels'),
        (RandomFlip(prob=[0.5], direction=['horizontal']), 'one probability and direction'),
        (RandomFlip(prob=0.5, direction='diagonal'), "direction='diagonal'"),
    ],
)
def test_other_settings_are_refused(transform: Any, message: str):
    with pytest.raises(ValueError, match=message):
        make_steps([transform], (8, 9, 3))
