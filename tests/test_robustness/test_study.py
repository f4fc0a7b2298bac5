from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from mmpretrain.models import ClsDataPreprocessor
from mmpretrain.structures import DataSample
from torch import Tensor, nn

from mmshufflemix.robustness import Batch, Study, add_salt_pepper, add_white_noise, run_study
from mmshufflemix.robustness.batches import check_memory, prepared_batches

IMAGES = torch.randn(11, 3, 5, 5, generator=torch.Generator().manual_seed(1))


class SumOfSquares:
    """Tells images apart; remembers the sizes of its batches."""

    name = 'energy'

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def collect(self, model: nn.Module, images: Tensor, batch: Batch) -> Tensor:
        assert len(images) == len(batch.samples)
        self.sizes.append(len(images))
        return model(images).double().pow(2).flatten(1).sum(1)

    def finish(self, collected: Any) -> float:
        return torch.cat(list(collected)).sum().item()


def energy(images: Tensor) -> float:
    return images.double().pow(2).sum().item()


def run(study: Study, batch_size: int = 4, metric: SumOfSquares | None = None) -> dict[str, Any]:
    def batches() -> Iterator[Batch]:
        for part in IMAGES.split(batch_size):
            yield Batch(part, [DataSample()] * len(part))

    return run_study(study, nn.Identity(), metric or SumOfSquares(), batches)


def values(record: dict[str, Any]) -> dict[tuple[Any, ...], list[float]]:
    return {(r['noise'], r['level'], r['mode']): r['values'] for r in record['results']}


def test_values_are_those_of_the_whole_set_at_once() -> None:
    study = Study({'white': [0.2, 0.1], 'salt_pepper': [0.1]}, ['paper', 'all'], [3, 0])
    record = run(study)
    seeded = [lambda seed=seed: torch.Generator().manual_seed(seed) for seed in (3, 0)]
    expected = {
        ('white', level, None): [energy(add_white_noise(IMAGES, level, g())) for g in seeded]
        for level in (0.1, 0.2)
    } | {
        ('salt_pepper', 0.1, mode): [
            energy(add_salt_pepper(IMAGES, 0.1, g(), mode)) for g in seeded
        ]
        for mode in ('paper', 'all')
    }
    found = values(record)
    assert list(found) == list(expected)
    for key, numbers in expected.items():
        assert found[key] == pytest.approx(numbers)
    assert record['clean'] == pytest.approx(energy(IMAGES))
    assert (record['metric'], record['images'], record['seeds']) == ('energy', 11, [3, 0])


def test_noise_depends_on_neither_batch_size_nor_other_levels() -> None:
    both = values(run(Study({'white': [0.1, 0.3], 'salt_pepper': [0.04, 0.3]}), batch_size=11))
    alone = values(run(Study({'salt_pepper': [0.3]}), batch_size=1))
    assert alone['salt_pepper', 0.3, 'paper'] == pytest.approx(both['salt_pepper', 0.3, 'paper'])
    alone = values(run(Study({'white': [0.3]}), batch_size=3))
    assert alone['white', 0.3, None] == pytest.approx(both['white', 0.3, None])


def test_level_0_is_the_clean_set_and_costs_nothing() -> None:
    metric = SumOfSquares()
    study = Study({'white': [0, 0.1]}, seeds=[0, 1])
    record = run(study, batch_size=11, metric=metric)
    assert values(record)['white', 0, None] == [record['clean']] * 2
    assert metric.sizes == [11] * study.passes() == [11] * 3
    metric = SumOfSquares()
    run(Study({'white': [0]}), batch_size=11, metric=metric)
    assert metric.sizes == [11]


def test_spread() -> None:
    several = run(Study({'white': [0.5]}, seeds=[0, 1, 2]))['results'][0]
    assert several['mean'] == pytest.approx(sum(several['values']) / 3)
    assert several['std'] == pytest.approx(statistics.stdev(several['values']))
    assert several['std'] > 0
    one = run(Study({'white': [0.5]}, seeds=[1]))['results'][0]
    assert one['std'] is None
    assert one['mean'] == one['values'][0] == several['values'][1]


def test_the_largest_seed_is_one_of_torch() -> None:
    assert run(Study({'white': [0.1]}, seeds=[2**64 - 1]))['seeds'] == [2**64 - 1]


def test_repeated_levels_are_run_once() -> None:
    record = run(Study({'white': [0.1, 0.05, 0.1]}, seeds=[0]))
    assert [result['level'] for result in record['results']] == [0.05, 0.1]


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (({'pink': [0.1]},), "noise must be one of .* got 'pink'"),
        (({'white': [-1]},), 'at least 0, got -1'),
        (({'salt_pepper': [2]},), 'from 0 to 1, got 2'),
        (({'white': [0.1]}, ['some']), r"modes must be among .* got \['some'\]"),
        (({'white': []},), 'at least one noise with a level'),
        (({'white': [0.1]}, ['paper'], []), 'one seed'),
        (({'white': [0.1]}, ['paper'], [1, 1]), r'must differ, got \[1, 1\]'),
        (({'white': [0.1]}, ['paper'], [-1]), r'integers in \[0, 2\^64\), got -1'),
        (({'white': [0.1]}, ['paper'], [0, 2**64]), r'got 18446744073709551616'),
        (({'white': [0.1]}, ['paper'], ['1']), r"got '1'"),
    ],
)
def test_mistakes(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Study(*arguments)


class Loader:
    """Counts how often it is read."""

    def __init__(self, count: int = 3, dtype: torch.dtype = torch.uint8) -> None:
        self.count = count
        self.dtype = dtype
        self.walks = 0

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self.walks += 1
        for number in range(self.count):
            samples = [DataSample().set_gt_label(number)] * 2
            inputs = torch.full((2, 3, 4, 4), number, dtype=self.dtype)
            yield {'inputs': inputs, 'data_samples': samples}


class Model(nn.Module):
    def __init__(self, **preprocessing: Any) -> None:
        super().__init__()
        self.data_preprocessor = ClsDataPreprocessor(**preprocessing)


@pytest.mark.parametrize(('budget', 'walks'), [(3 * 2 * 48 * 4, 1), (3 * 2 * 48 * 4 - 1, 4)])
def test_batches_are_kept_within_the_budget(budget: int, walks: int) -> None:
    loader = Loader()
    batches = prepared_batches(loader, Model(mean=[1.0] * 3, std=[2.0] * 3), budget)
    for _ in range(3):
        found = list(batches())
        assert [batch.images.unique().tolist() for batch in found] == [[-0.5], [0.0], [0.5]]
        assert [batch.labels.tolist() for batch in found] == [[0, 0], [1, 1], [2, 2]]
    assert loader.walks == walks


def test_images_must_be_normalised() -> None:
    with pytest.raises(ValueError, match='does not normalise; give data_preprocessor the mean'):
        prepared_batches(Loader(), Model(), 2**20)
    # As after a Normalize in the pipeline.
    batches = prepared_batches(Loader(dtype=torch.float32), Model(), 2**20)
    assert len(list(batches())) == 3
    with pytest.raises(ValueError, match='test set is empty'):
        prepared_batches(Loader(count=0), Model(), 2**20)


@pytest.mark.parametrize('memory', [float('inf'), float('nan'), -1, 1e308, '2', None])
def test_memory_that_cannot_be(memory: Any) -> None:
    with pytest.raises(ValueError, match='memory must be a finite number of GiB of at least 0'):
        check_memory(memory)
    assert (check_memory(0), check_memory(0.5)) == (0, 2**29)
