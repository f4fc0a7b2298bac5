"""The fast path crops, flips and normalises on a GPU as on the CPU."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from mmpretrain.models import ClsDataPreprocessor

from mmshufflemix import SmallImagePreprocessor
from mmshufflemix.small_images.samples import make_samples
from mmshufflemix.small_images.views import CropStep, FlipStep, View

COUNT, CLASSES = 7, 5
SETTINGS = dict(num_classes=CLASSES, mean=[129.3, 124.1, 112.4], std=[68.2, 65.4, 70.4])
CROP = CropStep((8, 8), (8, 8), (4, 4, 4, 4), (9, 0, 200), (8, 8, 3))
FLIP = FlipStep(0.5, 'horizontal')


def images(dtype: torch.dtype = torch.uint8) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randint(0, 256, (COUNT, 3, 8, 8), generator=generator).to(dtype)


def crop_and_flip_by_loops(given: torch.Tensor, views: list[View]) -> torch.Tensor:
    offsets, flips = (view.draws for view in views)
    padded = torch.tensor(CROP.fill).view(3, 1, 1).expand(COUNT, 3, 16, 16).to(given.dtype).clone()
    padded[:, :, 4:12, 4:12] = given
    result = []
    for image, (top, left), flip in zip(padded, offsets.tolist(), flips.tolist(), strict=True):
        window = image[:, top : top + 8, left : left + 8]
        result.append(window.flip(2) if flip else window)
    return torch.stack(result)


def draw_views() -> list[View]:
    generator = torch.Generator().manual_seed(3)
    return [View(step, step.draw(COUNT, generator)) for step in (CROP, FLIP)]


@pytest.mark.parametrize('dtype', [torch.uint8, torch.float32, torch.float16], ids=str)
def test_crops_and_flips(device: str, dtype: torch.dtype):
    views = draw_views()
    result = images(dtype).to(device)
    for view in views:
        result = view.apply(result)
    assert (result.device.type, result.dtype) == (device, dtype)
    assert 0 < views[1].draws.sum() < COUNT
    assert torch.equal(result.cpu(), crop_and_flip_by_loops(images(dtype), views))


@pytest.mark.parametrize('augment', [None, dict(type='InputMixup')], ids=['plain', 'mixed'])
def test_batches(device: str, augment: Any):
    settings = SETTINGS | (dict(batch_augments=dict(augments=augment)) if augment else {})
    views = draw_views()
    labels = torch.arange(COUNT) % CLASSES
    expected = ClsDataPreprocessor(**settings)(
        dict(
            inputs=crop_and_flip_by_loops(images(), views),
            data_samples=make_samples(labels, {}, {}),
        ),
        training=augment is None,
    )
    preprocessor = SmallImagePreprocessor(**settings).to(device)
    given = dict(inputs=images(), data_samples=make_samples(labels, {}, {}), views=views)
    batch = preprocessor(given, training=True)
    assert batch['inputs'].device.type == device
    assert all(sample.gt_label.device.type == device for sample in batch['data_samples'])
    if augment is None:
        torch.testing.assert_close(batch['inputs'].cpu(), expected['inputs'])
    else:
        scores = torch.stack([sample.gt_score for sample in batch['data_samples']]).cpu()
        torch.testing.assert_close(scores.sum(1), torch.ones(COUNT))
        assert not torch.equal(batch['inputs'].cpu(), expected['inputs'])
        # What is mixed stays in the span of the normalised pictures.
        assert batch['inputs'].min() >= expected['inputs'].min() - 1e-5
        assert batch['inputs'].max() <= expected['inputs'].max() + 1e-5
