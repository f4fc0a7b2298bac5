"""The dataset and the data preprocessor against the ordinary ones."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from mmengine.dataset import pseudo_collate
from mmpretrain.datasets import BaseDataset
from mmpretrain.registry import DATASETS
from mmpretrain.structures import DataSample
from mmpretrain.utils import register_all_modules

from mmshufflemix import InMemoryImages, SmallImagePreprocessor
from tests.image_trees import save_picture, write_tiles, write_tiny_imagenet
from tests.integration.small_cifar import SmallCIFAR10, write_cifar
from tests.test_small_images.compare import assert_equal_batches, assert_equal_samples
from tests.tiny_job import write_pictures

register_all_modules()
LOAD, PACK = dict(type='LoadImageFromFile'), dict(type='PackInputs')
CROP = dict(type='RandomCrop', crop_size=16, padding=2)
FLIP = dict(type='RandomFlip', prob=0.5, direction='horizontal')
NORMALISE = dict(mean=[129.3, 124.1, 112.4], std=[68.2, 65.4, 70.4])


def folder(root: Path) -> dict[str, Any]:
    return dict(type='CustomDataset', data_root=str(write_pictures(root)), pipeline=[LOAD, PACK])


def cifar(root: Path) -> dict[str, Any]:
    write_cifar(root, 12)
    return dict(type=SmallCIFAR10, data_root=str(root), pipeline=[PACK])


def tiles(root: Path) -> dict[str, Any]:
    return dict(type='CIFARTiles', data_root=str(write_tiles(root)), pipeline=[PACK])


def tiny_imagenet(root: Path) -> dict[str, Any]:
    data_root = str(write_tiny_imagenet(root))
    return dict(type='TinyImageNet', data_root=data_root, pipeline=[LOAD, PACK])


def subset(root: Path) -> dict[str, Any]:
    return dict(type='ClassSubset', classes=2, per_class=2, dataset=tiles(root))


def repeated(root: Path) -> dict[str, Any]:
    return dict(type='RepeatDataset', times=2, dataset=subset(root))


def folded(root: Path) -> dict[str, Any]:
    return dict(type='KFoldDataset', fold=1, num_splits=3, dataset=folder(root))


def balanced(root: Path) -> dict[str, Any]:
    return dict(type='ClassBalancedDataset', oversample_thr=0.9, dataset=folder(root))


def resized(root: Path) -> dict[str, Any]:
    """Pictures of two sizes, each resized and cut once."""
    for index, size in enumerate([(20, 30), (40, 24), (20, 30), (33, 33)]):
        save_picture(root / 'ab'[index % 2] / f'{index}.png', index, size)
    pipeline = [LOAD, dict(type='ResizeEdge', scale=18), dict(type='CenterCrop', crop_size=16)]
    return dict(type='CustomDataset', data_root=str(root), pipeline=[*pipeline, PACK])


def grey(root: Path) -> dict[str, Any]:
    load = dict(LOAD, color_type='grayscale')
    return dict(folder(root), pipeline=[load, PACK])


SETS = [folder, cifar, tiles, tiny_imagenet, subset, repeated, folded, balanced, resized, grey]


@pytest.mark.parametrize('make', SETS)
def test_batches_equal_ordinary_ones(make: Callable[[Path], dict[str, Any]], tmp_path: Path):
    config = make(tmp_path)
    ordinary, fast = DATASETS.build(config), InMemoryImages(config)
    ordinary.full_init()
    assert len(fast) == len(ordinary) > 3
    assert fast.metainfo == ordinary.metainfo
    labels = [ordinary.get_data_info(index)['gt_label'] for index in range(len(fast))]
    assert [fast.get_cat_ids(index) for index in range(len(fast))] == [[k] for k in labels]
    assert fast.get_gt_labels().tolist() == labels
    indices = [len(fast) - 1, 0, 3, 0]
    # A grey picture has three channels after this.
    assert_equal_batches(ordinary, fast, indices, **NORMALISE)
    assert_equal_batches(ordinary, fast, indices, to_rgb=True, pad_size_divisor=24, **NORMALISE)
    assert_equal_batches(ordinary, fast, indices, to_onehot=True, num_classes=10)
    for index in (2, -1):
        one, two = ordinary[index], fast[index]
        assert torch.equal(one['inputs'], two['inputs'])
        assert_equal_samples(one['data_samples'], two['data_samples'])


@pytest.mark.parametrize('settings', [dict(mean=[7, 8, 9], std=[2]), dict(mean=[7], std=[2, 3, 4])])
def test_grey_pictures_get_the_channels_of_mean_and_std(settings: dict[str, Any], tmp_path: Path):
    config = grey(tmp_path)
    assert_equal_batches(DATASETS.build(config), InMemoryImages(config), [2, 5], **settings)


@pytest.mark.parametrize('make', [folder, repeated])
def test_indices(make: Callable[[Path], dict[str, Any]], tmp_path: Path):
    """They count from the end, too, and end where the images end, as those of a list."""
    config = make(tmp_path)
    ordinary, fast = DATASETS.build(config), InMemoryImages(config)
    count = len(fast)
    assert_equal_batches(ordinary, fast, [-1, 1, -2], **NORMALISE)
    samples = [sample['data_samples'] for sample in fast]
    assert [int(sample.gt_label) for sample in samples] == fast.get_gt_labels().tolist()
    first, last = (fast.get_cat_ids(index) for index in (-count, -1))
    assert [first, last] == [fast.get_cat_ids(0), fast.get_cat_ids(count - 1)]
    assert_equal_samples(fast[-count]['data_samples'], samples[0])
    for outside in (count, -count - 1):
        message = f'no image {outside}: this dataset has {count}, numbered 0 to {count - 1}, or'
        for get in (
            fast.__getitem__,
            fast.get_cat_ids,
            lambda index: fast.__getitems__([0, index]),
        ):
            with pytest.raises(IndexError, match=message):
                get(outside)


@pytest.mark.parametrize('random', [[CROP, FLIP], [FLIP, CROP], [CROP], [FLIP]])
def test_random_samples_are_of_the_ordinary_kind(random: list[dict], tmp_path: Path):
    config = dict(folder(tmp_path), pipeline=[LOAD, *random, PACK])
    ordinary, fast = DATASETS.build(config), InMemoryImages(config)
    torch.manual_seed(0)
    batch = fast.__getitems__(range(12))
    inputs = SmallImagePreprocessor()(batch, training=True)['inputs']
    flips = []
    for index, made in enumerate(batch['data_samples']):
        plain = ordinary[index]['data_samples']
        assert made._metainfo_fields == plain._metainfo_fields
        assert made.img_shape == plain.img_shape
        assert made.img_path == plain.img_path
        flips.append(made.get('flip', False))
        assert made.get('flip_direction') == ('horizontal' if flips[-1] else None)
    assert len(set(flips)) == (2 if FLIP in random else 1)
    if random == [FLIP]:
        plain = InMemoryImages(dict(config, pipeline=[LOAD, PACK])).__getitems__(range(12))[
            'inputs'
        ]
        for image, source, flip in zip(inputs, plain, flips, strict=True):
            assert torch.equal(image.byte(), source.flip(2) if flip else source)


def test_draws_come_from_pytorch(tmp_path: Path):
    config = dict(folder(tmp_path), pipeline=[LOAD, CROP, FLIP, PACK])
    fast, batches = InMemoryImages(config), []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        batches.append(SmallImagePreprocessor()(fast.__getitems__(range(12)))['inputs'])
    assert torch.equal(batches[0], batches[1])
    assert not torch.equal(batches[0], batches[2])


def test_batch_augments_get_what_they_expect(tmp_path: Path):
    fast = InMemoryImages(folder(tmp_path))
    augments = dict(augments=dict(type='CutMix', alpha=1.0))
    settings = dict(num_classes=3, batch_augments=augments, **NORMALISE)
    preprocessor, torch_seed = SmallImagePreprocessor(**settings), 4
    seen: list[torch.Tensor] = []
    augment = preprocessor.batch_augments.augments[0]

    def spy(images: torch.Tensor, scores: torch.Tensor) -> Any:
        seen.append(scores)
        return augment(images, scores)

    preprocessor.batch_augments.augments[0] = spy
    np.random.seed(torch_seed)
    samples = preprocessor(fast.__getitems__([0, 1, 5, 9]), True)['data_samples']
    assert seen[0].tolist() == torch.eye(3)[[s.gt_label.item() for s in samples]].tolist()
    assert all(abs(s.gt_score.sum().item() - 1) < 1e-6 and s.num_classes == 3 for s in samples)
    for index, training in enumerate((False, True)):
        preprocessor(fast.__getitems__([0, 1]), training)
        assert len(seen) == 1 + index


def test_other_batches_pass_as_before():
    """Several labels, ready scores, lists of images, and no samples at all."""
    images = torch.randint(0, 256, (2, 3, 8, 8), dtype=torch.uint8)
    preprocessor = SmallImagePreprocessor(to_onehot=True, num_classes=3)
    several = [DataSample().set_gt_label([0, 2]), DataSample().set_gt_label([1])]
    out = preprocessor({'inputs': images, 'data_samples': several})['data_samples']
    assert [sample.gt_score.tolist() for sample in out] == [[1, 0, 1], [0, 1, 0]]
    scored = [DataSample().set_gt_label(0).set_gt_score([0.5, 0.5, 0.0]) for _ in range(2)]
    out = preprocessor({'inputs': images, 'data_samples': scored})['data_samples']
    assert out[1].gt_score.tolist() == [0.5, 0.5, 0]
    listed = pseudo_collate([{'inputs': image} for image in images])
    assert torch.equal(preprocessor(listed)['inputs'], images.float())
    assert preprocessor({'inputs': images})['data_samples'] is None


def test_missing_number_of_classes_is_named(tmp_path: Path):
    batch = InMemoryImages(folder(tmp_path)).__getitems__([0, 1])
    with pytest.raises(ValueError, match='num_classes'):
        SmallImagePreprocessor(to_onehot=True)(batch)


class Given(BaseDataset):
    """Samples as they are given."""

    def __init__(self, infos: list[dict], pipeline: Any = (PACK,)) -> None:
        self.infos = infos
        super().__init__(ann_file='', pipeline=pipeline)

    def load_data_list(self) -> list[dict]:
        return self.infos


def info(side: int = 8, label: Any = 0, dtype: Any = np.uint8) -> dict[str, Any]:
    return dict(img=np.zeros((side, 8, 3), dtype), gt_label=label)


@pytest.mark.parametrize(
    ('infos', 'message'),
    [
        ([info(), info(9)], r'8 x 8 x 3 and 9 x 8 x 3 \(image 1\)'),
        ([info(label=[0, 1])], r'one integer gt_label an image, got \[0, 1\] \(image 0\)'),
        ([dict(img=np.zeros((8, 8, 3), np.uint8))], 'got None'),
        ([dict(info(), gt_score=[0.5, 0.5], sample_idx=0)], 'image 0 has a gt_score, too'),
        ([dict(info(), mask=np.ones(3), img_path='a.png')], 'a.png has a mask, too'),
        ([info(dtype=np.float32)], '8-bit images, got float32'),
    ],
)
def test_other_data_is_refused(infos: list[dict], message: str):
    with pytest.raises(ValueError, match=message):
        InMemoryImages(Given(infos))


@pytest.mark.parametrize('same', [True, False])
def test_arrays_are_meta_information(same: bool):
    boxes = [[0, 5], [0, 5], [0, 5 if same else 6]]
    infos = [dict(info(), box=np.array(box)) for box in boxes]
    dataset = Given(infos, [dict(type='PackInputs', meta_keys=['box', 'sample_idx'])])
    samples = InMemoryImages(dataset).__getitems__([2, 0])['data_samples']
    for index, sample in zip((2, 0), samples, strict=True):
        plain = dataset[index]['data_samples']
        assert sample._metainfo_fields == plain._metainfo_fields
        assert sample.sample_idx == index
        assert type(sample.box) is np.ndarray
        assert sample.box.tolist() == plain.box.tolist() == boxes[index]


@pytest.mark.parametrize('settings', [dict(indices=0), dict(indices=0, serialize_data=False)])
def test_a_dataset_without_images_is_refused(settings: dict[str, Any], tmp_path: Path):
    """Told by MMEngine in words of NumPy, or not at all."""
    config = dict(folder(tmp_path), **settings)
    with pytest.raises(
        ValueError, match=r'^the fast path .* one image, and CustomDataset has none'
    ):
        InMemoryImages(config)
    with pytest.raises(
        ValueError, match=r'^the fast path .* one image, and CustomDataset has none'
    ):
        InMemoryImages(DATASETS.build(dict(config, lazy_init=True)))


@pytest.mark.parametrize('content', [b'', b'no picture'])
@pytest.mark.parametrize('backend', ['cv2', 'pillow'])
@pytest.mark.parametrize('ignore_empty', [True, False])
def test_unreadable_pictures_are_named(
    content: bytes, backend: str, ignore_empty: bool, tmp_path: Path
):
    config = folder(tmp_path)
    config['pipeline'] = [dict(LOAD, imdecode_backend=backend, ignore_empty=ignore_empty), PACK]
    broken = tmp_path / 'b' / '4.png'
    broken.write_bytes(content)
    with pytest.raises(ValueError, match=f'^the fast path .*{broken} cannot be read; mend'):
        InMemoryImages(config)
    dataset = DATASETS.build(config)
    broken.unlink()
    kind, message = (ValueError, 'cannot') if ignore_empty else (FileNotFoundError, str(broken))
    with pytest.raises(kind, match=message):
        InMemoryImages(dataset)


def test_more_than_half_of_the_memory_is_refused():
    with patch.object(os, 'sysconf', lambda name: 20), pytest.raises(ValueError, match='GB, more'):
        InMemoryImages(Given([info(), info()]))


def test_joined_datasets_are_refused(tmp_path: Path):
    config = dict(type='ConcatDataset', datasets=[folder(tmp_path), folder(tmp_path)])
    with pytest.raises(TypeError, match='cannot read a ConcatDataset'):
        InMemoryImages(config)
