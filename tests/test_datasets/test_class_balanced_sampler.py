"""Drawing by repeat factor, against MMEngine's wrapper, loops and real runs."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from mmengine.config import Config
from mmengine.dataset import ClassBalancedDataset
from mmengine.hooks import Hook
from mmengine.runner import Runner
from mmpretrain.registry import DATASETS

from mmshufflemix.datasets import ClassBalancedSampler
from mmshufflemix.datasets.class_balanced_sampler import draw_by_weight, repeat_factors
from mmshufflemix.datasets.training_labels import training_labels
from mmshufflemix.label_graph import count_labels, label_lists
from tests.test_hooks.test_label_graph_hook import IMAGES, NAMES, job
from tests.voc_tree import write_voc_tree

LINEAR = {'type': 'MultiLabelLinearClsHead', 'num_classes': 3, 'in_channels': 32}
# Of 9 images cat is in 8, dog in 2, person in 4; one has no label.
LABELS = [[0], [0], [0, 2], [0, 2], [0, 1], [0, 1, 2], [0, 2], [0], []]


class Listed:
    """A set that tells its classes only."""

    def __init__(self, labels: list[list[int]]) -> None:
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)

    def get_cat_ids(self, index: int) -> list[int]:
        return self.labels[index]


def json_set(folder: Path, labels: list[list[int]], **options: Any) -> dict:
    """Config of a MultiLabelJSON without pictures."""
    rows = [{'img_path': f'{i}.png', 'gt_label': ids} for i, ids in enumerate(labels)]
    path = folder / f'{uuid.uuid4().hex}.json'
    path.write_text(json.dumps({'metainfo': {'classes': NAMES}, 'data_list': rows}))
    return {'type': 'MultiLabelJSON', 'ann_file': str(path), **options}


@pytest.mark.parametrize('thr', [0.1, 0.3, 0.5, 1.0])
def test_factors_are_those_of_mmengine(tmp_path: Path, thr: float) -> None:
    dataset = DATASETS.build(json_set(tmp_path, LABELS))
    wrapped = ClassBalancedDataset(dataset, thr)
    expected = wrapped._get_repeat_factors(dataset, thr)
    np.testing.assert_allclose(repeat_factors(LABELS, thr), expected)
    assert list(training_labels(dataset)) == LABELS


def test_factors_by_hand() -> None:
    # Shares of 4 images: class 0 1/2, class 1 1/4, with t = 1/2.
    factors = repeat_factors([[0], [0, 1], [], [7]], 0.5)
    np.testing.assert_allclose(factors, [1, 2**0.5, 1, 2**0.5])
    assert repeat_factors([[], []], 0.5).tolist() == [1, 1]


@pytest.mark.parametrize('thr', [0, -1, 1.01, float('nan')])
def test_a_threshold_out_of_range_is_refused(thr: float) -> None:
    with pytest.raises(ValueError, match='oversample_thr is a share of the images, above 0 to 1'):
        ClassBalancedSampler(Listed(LABELS), thr)


@pytest.mark.parametrize('count', [1, 7, 12, 50])
def test_draws_are_the_expected_number_rounded(count: int) -> None:
    weights = torch.tensor([1.0, 1.5, 2, 3.7, 1, 1.2, 5])
    expected = count * weights / weights.sum()
    total = torch.zeros(len(weights))
    for seed in range(400):
        drawn = draw_by_weight(weights, count, torch.Generator().manual_seed(seed))
        assert len(drawn) == count
        times = torch.bincount(drawn, minlength=len(weights))
        assert ((times >= expected.floor()) & (times <= expected.ceil())).all()
        total += times
    # A fraction f is rounded up with the variance f (1 - f) <= 1/4.
    assert (total / 400 - expected).abs().max() < 4 * 0.5 / 400**0.5


def test_equal_weights_give_every_image_once() -> None:
    drawn = draw_by_weight(torch.ones(20), 20, torch.Generator().manual_seed(0))
    assert sorted(drawn.tolist()) == list(range(20))
    assert drawn.tolist() != list(range(20))


def test_an_epoch_has_one_length_and_more_of_the_rare_class() -> None:
    sampler = ClassBalancedSampler(Listed(LABELS), 1.0, seed=3)
    seen: Counter[int] = Counter()
    for epoch in range(200):
        sampler.set_epoch(epoch)
        indices = list(sampler)
        assert len(indices) == len(sampler) == len(LABELS)
        seen.update(indices)
    factors = repeat_factors(LABELS, 1.0)
    share = np.array([seen[index] for index in range(len(LABELS))]) / (200 * len(LABELS))
    np.testing.assert_allclose(share, factors / factors.sum(), atol=0.01)


def test_epochs_repeat_by_seed_and_differ_from_each_other() -> None:
    sampler, again, other = (ClassBalancedSampler(Listed(LABELS), 0.5, seed=s) for s in (1, 1, 9))
    first = list(sampler)
    assert first == list(sampler) == list(again)
    assert first != list(other)
    sampler.set_epoch(1)
    assert first != list(sampler)


@pytest.mark.parametrize('round_up', [True, False])
@pytest.mark.parametrize('world', [2, 4, 20])
def test_ranks_share_one_list(monkeypatch: pytest.MonkeyPatch, world: int, round_up: bool) -> None:
    alone = list(ClassBalancedSampler(Listed(LABELS), 0.5, seed=1))
    parts = []
    for rank in range(world):
        monkeypatch.setattr('mmengine.dataset.sampler.get_dist_info', lambda r=rank: (r, world))
        sampler = ClassBalancedSampler(Listed(LABELS), 0.5, seed=1, round_up=round_up)
        parts.append(list(sampler))
        assert len(parts[-1]) == max(len(sampler), 0)
    joined = [part[turn] for turn in range(len(parts[0])) for part in parts if turn < len(part)]
    assert joined[: len(alone)] == alone
    assert len(joined) == (len(parts[0]) * world if round_up else len(alone))


class Seen(Hook):
    """Writes down the pictures of every training step."""

    def __init__(self) -> None:
        self.names: list[list[str]] = []

    def before_train_iter(self, runner: Any, batch_idx: int, data_batch: Any = None) -> None:
        self.names.append([Path(s.img_path).stem for s in data_batch['data_samples']])


def runner_of(config: Config) -> tuple[Runner, Seen]:
    runner, seen = Runner.from_cfg(config), Seen()
    runner.register_hook(seen)
    return runner, seen


def balanced_job(folder: Path, **options: Any) -> Config:
    hooks = [{'type': 'EpochSeedHook'}]
    settings = {'custom_hooks': hooks, 'randomness': {'seed': 2}, **options}
    config = job(folder, experiment_name=uuid.uuid4().hex, **settings)
    config.model.head = LINEAR
    return config


def test_a_resumed_run_sees_what_one_without_the_stop_sees(tmp_path: Path) -> None:
    def config(epochs: int, **options: Any) -> Config:
        cfg = balanced_job(tmp_path, train_cfg__max_epochs=epochs, **options)
        cfg.train_dataloader.sampler = {'type': 'ClassBalancedSampler', 'oversample_thr': 0.9}
        return cfg

    whole, seen = runner_of(config(4, work_dir=str(tmp_path / 'whole')))
    whole.train()
    runner_of(config(2))[0].train()
    resumed, rest = runner_of(config(4, resume=True))
    resumed.train()
    assert len(seen.names) == 8
    assert seen.names[4:] == rest.names
    assert len({tuple(sorted(chain(*seen.names[i : i + 2]))) for i in range(0, 8, 2)}) > 1
    torch.testing.assert_close(resumed.model.state_dict(), whole.model.state_dict())


@pytest.mark.parametrize('head', ['linear', 'MLGCN'])
def test_the_wrapper_of_mmengine_works_as_it_is(tmp_path: Path, head: str) -> None:
    """Pictures, mixing, epoch seeds and the label graph, which undoes the repetition."""
    config = balanced_job(tmp_path)
    inner = config.train_dataloader.dataset
    wrapper = {'type': 'ClassBalancedDataset', 'oversample_thr': 0.5, 'dataset': inner}
    config.train_dataloader.dataset = wrapper
    if head == 'MLGCN':
        config.model.head = job(tmp_path).model.head
        config.custom_hooks.append({'type': 'LabelGraphHook'})
    runner, seen = runner_of(config)
    runner.train()
    dataset = runner.train_dataloader.dataset
    # dog is in 1 of 4, so that sqrt(0.5 / 0.25) = 1.4 is rounded up to 2.
    assert dataset.metainfo['classes'] == NAMES
    assert Counter(chain(*seen.names)) == {'a': 2, 'b': 2, 'c': 2, 'd': 4}
    counts, _ = count_labels(label_lists(dataset), 3)
    assert counts.tolist() == [3, 1, 2]


def test_the_wrapper_rounds_every_factor_up(tmp_path: Path) -> None:
    """The reason for a sampler: with 11 of 20 images and t = 0.6 the factor 1.04 doubles them."""
    labels = [[0]] * 11 + [[1]] * 9
    factors = repeat_factors(labels, 0.6)
    assert factors[0] == pytest.approx(1.0445, abs=1e-4)
    wrapped = ClassBalancedDataset(DATASETS.build(json_set(tmp_path, labels)), 0.6)
    assert len(wrapped) == 40
    assert Counter(ClassBalancedSampler(Listed(labels), 0.6, seed=0)).total() == 20


def test_labels_of_a_set_are_those_it_trains_on(tmp_path: Path) -> None:
    tree = write_voc_tree(tmp_path / 'VOC2007', IMAGES, {'trainval': list(IMAGES)})
    common = {'type': 'VOCMultiLabel', 'data_root': str(tree), 'metainfo': {'classes': NAMES}}
    positive, negative = (
        list(training_labels(DATASETS.build({**common, 'difficult': rule})))
        for rule in ('positive', 'negative')
    )
    assert positive == [[0, 2], [0, 2], [2], [0, 1]]
    assert negative == [[0, 2], [0], [2], [0, 1]]


def test_single_labels_are_lists_of_one() -> None:
    class Single(Listed):
        get_data_info = lambda self, index: {'gt_label': self.labels[index]}  # noqa: E731

    assert list(training_labels(Single([3, np.int64(1)]))) == [[3], [1]]
    with pytest.raises(ValueError, match='image 1 of the dataset Single has no gt_label'):
        list(training_labels(Single([3, None])))


def test_a_set_without_classes_is_refused() -> None:
    with pytest.raises(TypeError, match='the dataset range does not tell the classes'):
        ClassBalancedSampler(range(4), 0.5)
