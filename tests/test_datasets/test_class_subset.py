from __future__ import annotations

import pickle
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from mmengine.dataset import ClassBalancedDataset, RepeatDataset
from mmpretrain.datasets import BaseDataset, CustomDataset
from mmpretrain.registry import DATASETS
from torch.utils.data import DataLoader

from mmshufflemix.datasets import ClassSubset
from mmshufflemix.datasets.class_subset import count_kept, draw_subset
from tests.image_trees import save_picture, write_tiles
from tests.voc_tree import write_voc_tree

COUNTS = {'ant': 10, 'bee': 5, 'cat': 1, 'dog': 20}
ORIGINAL = [name for name, count in COUNTS.items() for _ in range(count)]
random.Random(1).shuffle(ORIGINAL)


@DATASETS.register_module()
class CountedClasses(BaseDataset):
    """Pictures whose first pixel is their number, the classes interleaved."""

    METAINFO: ClassVar[dict] = {
        'classes': tuple(COUNTS),
        'codes': ('a', 'b', 'c', 'd'),
        'origin': 'made up',
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(ann_file='', **kwargs)

    def load_data_list(self) -> list[dict]:
        return [
            {'img': np.full((4, 4, 3), index, np.uint8), 'gt_label': list(COUNTS).index(name)}
            for index, name in enumerate(ORIGINAL)
        ]


# Serializing data collects garbage, which takes longer than all the rest.
INNER = dict(type='CountedClasses', pipeline=[dict(type='PackInputs')], serialize_data=False)


def numbers(dataset: BaseDataset) -> list[int]:
    """List the numbers of the kept pictures."""
    return [int(dataset.get_data_info(index)['img'][0, 0, 0]) for index in range(len(dataset))]


def names(dataset: BaseDataset) -> list[str]:
    """List the class names of the kept pictures."""
    return [dataset.CLASSES[label] for label in dataset.get_gt_labels()]


def test_all_of_it_is_the_same_dataset():
    whole, inner = ClassSubset(INNER), DATASETS.build(INNER)
    assert numbers(whole) == list(range(36))
    assert whole.get_gt_labels().tolist() == inner.get_gt_labels().tolist()
    assert whole.metainfo == inner.metainfo


@pytest.mark.parametrize(
    ('fraction', 'kept'),
    [
        (0.5, (5, 3, 1, 10)),  # half of 5 is 2.5, halves go up
        (0.1, (1, 1, 1, 2)),  # at least one
        (0.35, (4, 2, 1, 7)),  # 3.5 exactly, although 0.35 is not a binary fraction
        (0.29, (3, 1, 1, 6)),
        (1, (10, 5, 1, 20)),
        (1e-9, (1, 1, 1, 1)),
    ],
)
def test_fraction_of_each_class(fraction: float, kept: tuple[int, ...]):
    dataset = ClassSubset(INNER, fraction=fraction)
    assert Counter(names(dataset)) == dict(zip(COUNTS, kept, strict=True))
    assert numbers(dataset) == sorted(set(numbers(dataset)))
    assert [ORIGINAL[number] for number in numbers(dataset)] == names(dataset)


def test_rounding_never_keeps_more_than_there_is():
    for available in range(40):
        for percent in range(1, 101):
            kept = count_kept(available, percent / 100)
            nearest = (percent * available * 2 + 100) // 200
            assert kept == min(available, max(1, nearest))


def test_smaller_parts_lie_in_larger_ones():
    parts = [set(numbers(ClassSubset(INNER, fraction=tenths / 10))) for tenths in range(1, 11)]
    assert all(small <= large for small, large in pairwise(parts))


def test_choice_depends_on_the_seed_alone():
    chosen = numbers(ClassSubset(INNER, fraction=0.3))
    np.random.seed(7)
    random.seed(7)
    torch.manual_seed(7)
    before = torch.get_rng_state()
    assert numbers(ClassSubset(INNER, fraction=0.3)) == chosen
    assert torch.equal(torch.get_rng_state(), before)
    assert numbers(ClassSubset(INNER, fraction=0.3, seed=1)) != chosen


def test_choice_in_a_class_does_not_depend_on_the_other_classes():
    everything = ClassSubset(INNER, fraction=0.3)
    dogs = [number for number in numbers(everything) if ORIGINAL[number] == 'dog']
    assert numbers(ClassSubset(INNER, fraction=0.3, classes=['dog'])) == dogs


def test_every_picture_can_be_drawn():
    drawn = Counter()
    for seed in range(300):
        drawn.update(draw_subset(np.array([0] * 6 + [1] * 4), {0: 2, 1: 1}, seed))
    # 300 draws of 2 of 6 and of 1 of 4: 100 and 75 expected, standard deviation about 8.
    assert set(drawn) == set(range(10))
    assert all(abs(drawn[index] - (100 if index < 6 else 75)) < 35 for index in range(10))


@pytest.mark.parametrize(
    ('classes', 'kept'),
    [(2, ('ant', 'bee')), (('dog', 'ant'), ('dog', 'ant')), ('bee', ('bee',)), (4, tuple(COUNTS))],
)
def test_chosen_classes_are_renumbered(classes: Any, kept: tuple[str, ...]):
    dataset = ClassSubset(INNER, classes=classes)
    assert dataset.CLASSES == dataset.metainfo['classes'] == kept
    assert dataset.metainfo['codes'] == tuple(name[0] for name in kept)
    assert dataset.metainfo['origin'] == 'made up'
    assert dataset.class_to_idx == {name: index for index, name in enumerate(kept)}
    assert Counter(names(dataset)) == {name: COUNTS[name] for name in kept}
    for index, number in enumerate(numbers(dataset)):
        assert names(dataset)[index] == ORIGINAL[number]
        assert dataset.get_cat_ids(index) == [dataset.get_gt_labels()[index]]
        assert dataset[index]['data_samples'].gt_label.item() == dataset.get_gt_labels()[index]


def test_number_of_images_of_each_class():
    dataset = ClassSubset(INNER, per_class=5, classes=['dog', 'ant', 'bee'])
    assert Counter(names(dataset)) == {'dog': 5, 'ant': 5, 'bee': 5}
    with pytest.raises(
        ValueError, match=r'per_class=5 images are asked for but a class has only 1'
    ):
        ClassSubset(INNER, per_class=5)


def test_is_an_mmpretrain_dataset():
    dataset = DATASETS.build(dict(type='ClassSubset', dataset=INNER, fraction=0.5, classes=2))
    assert isinstance(dataset, BaseDataset)
    assert [sample['data_samples'].sample_idx for sample in dataset] == list(range(8))
    assert len(dataset.get_subset([0, 3])) == 2
    assert len(RepeatDataset(dataset, 3)) == 24
    assert len(ClassBalancedDataset(dataset, 1e-3)) == 8
    assert numbers(pickle.loads(pickle.dumps(dataset))) == numbers(dataset)
    for expected in ('Number of samples: \t8', 'Number of categories: \t2', 'PackInputs', '0.5'):
        assert expected in repr(dataset)


def test_workers_load_it():
    loader = DataLoader(ClassSubset(INNER, fraction=0.3), 4, num_workers=1, collate_fn=list)
    found = [int(sample['inputs'][0, 0, 0]) for samples in loader for sample in samples]
    assert found == numbers(ClassSubset(INNER, fraction=0.3))


def test_can_be_read_later():
    dataset = ClassSubset(INNER, classes=2, lazy_init=True)
    assert dataset.CLASSES == tuple(COUNTS)
    dataset.full_init()
    dataset.full_init()
    assert dataset.CLASSES == ('ant', 'bee')
    assert len(dataset) == 15


@pytest.mark.parametrize('serialize', [True, False])
def test_a_given_dataset_stays_as_it_is(serialize: bool):
    inner = DATASETS.build(dict(INNER, serialize_data=serialize, test_mode=True))
    dataset = ClassSubset(inner, classes=['dog'])
    assert dataset.test_mode
    assert set(dataset.get_gt_labels()) == {0}
    assert len(inner) == 36
    assert set(inner.get_gt_labels()) == {0, 1, 2, 3}
    assert inner.CLASSES == tuple(COUNTS)


def test_twenty_classes_of_tiles(tmp_path: Path):
    classes = [f'c{number:02d}' for number in range(21)]
    inner = dict(type='CIFARTiles', data_root=str(write_tiles(tmp_path, classes, rows=1)))
    dataset = ClassSubset(inner, classes=20, per_class=2)
    assert dataset.CLASSES == tuple(classes[:20])
    assert np.bincount(dataset.get_gt_labels()).tolist() == [2] * 20


def test_pictures_of_any_reader_are_checked(tmp_path: Path):
    for index in range(4):
        save_picture(tmp_path / 'ab'[index % 2] / f'{index}.png', index)
    (tmp_path / 'a' / '0.png').write_bytes(b'no picture')
    inner = CustomDataset(data_root=str(tmp_path), pipeline=[dict(type='LoadImageFromFile')])
    with pytest.raises(ValueError, match=r'cannot decode the image .*a.0\.png'):
        ClassSubset(inner)[0]
    (tmp_path / 'b' / '1.png').unlink()
    with pytest.raises(FileNotFoundError, match=r'1 of 4 images are missing: .*b.1\.png'):
        ClassSubset(inner)


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (dict(fraction=0), r'fraction must be a number in \(0, 1\], got 0'),
        (dict(fraction=1.5), r'fraction must be a number in \(0, 1\], got 1\.5'),
        (dict(fraction='0.1'), r"fraction must be a number in .* got '0\.1'"),
        (dict(seed=None), r'seed must be an integer of at least 0, got None'),
        (dict(seed=-1), r'seed must be an integer of at least 0, got -1'),
        (dict(seed='a'), r"seed must be an integer of at least 0, got 'a'"),
        (dict(fraction=0.5, per_class=2), r'exclude each other'),
        (dict(per_class=0), r'per_class must be an integer of at least 1, got 0'),
        (dict(per_class=2.5), r'per_class must be an integer of at least 1, got 2\.5'),
        (dict(classes=5), r'classes must be 1 to 4 or names, got 5'),
        (dict(classes=True), r'classes must be 1 to 4 or names, got True'),
        (dict(classes=2.5), r'classes must be 1 to 4 or names, got 2\.5'),
        (dict(classes=0), r'classes must be 1 to 4 or names, got 0'),
        (dict(classes=['ant', 'elk']), r'of which unknown: elk'),
        (dict(classes=['ant', 'ant']), r'must be distinct names'),
        (dict(classes=[]), r'must be distinct names'),
    ],
)
def test_refuses_bad_arguments(arguments: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        ClassSubset(INNER, **arguments)


def test_refuses_several_labels_and_wrappers(tmp_path: Path):
    write_voc_tree(tmp_path, {'1': [('cat', False)]}, {'trainval': ['1']})
    with pytest.raises(ValueError, match=r'one label an image, but VOCMultiLabel has several'):
        ClassSubset(dict(type='VOCMultiLabel', data_root=str(tmp_path)))
    with pytest.raises(TypeError, match=r'not of a wrapper .* got RepeatDataset'):
        ClassSubset(dict(type='RepeatDataset', times=2, dataset=dict(INNER, _scope_='mmpretrain')))
    with pytest.raises(TypeError, match=r'got str'):
        ClassSubset('CIFAR100')
