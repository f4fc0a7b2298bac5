from __future__ import annotations

import json

import pytest
import torch

from mmshufflemix.decision_boundary import (
    BEST,
    Outcome,
    PointSet,
    Schedule,
    Study,
    accuracy_table,
    choose_methods,
    run_study,
    study_record,
)

TINY = Study(noise=0.1, train_points=6, test_points=10, seeds=(3, 4), schedule=Schedule(epochs=1))


def outcome(method: str, num_classes: int, seed: int, test_accuracy: float) -> Outcome:
    points = PointSet(torch.zeros(1, 2), torch.zeros(1, dtype=torch.long), num_classes)
    return Outcome(method, num_classes, seed, 99.0, test_accuracy, points, None)


def test_all_methods_sets_and_seeds() -> None:
    reports: list[int] = []
    methods = choose_methods(['baseline', 'shufflemix'])
    outcomes = run_study(methods, TINY, report=lambda: reports.append(1))
    assert [(o.seed, o.num_classes, o.method) for o in outcomes] == [
        (seed, num_classes, method)
        for seed in (3, 4)
        for num_classes in (2, 3)
        for method in ('baseline', 'shufflemix', BEST)
    ]
    assert len(reports) == 8
    for found in outcomes:
        assert len(found.train.points) == 6 * found.num_classes
        assert (found.model is None) == (found.method == BEST)
        # Ten test points a class: accuracies are multiples of one point.
        hits = found.test_accuracy / 100 * 10 * found.num_classes
        assert hits == pytest.approx(round(hits))


def test_training_and_test_points_of_all_seeds_differ() -> None:
    sets = [points for seed in range(3) for points in TINY.draw(2, seed)]
    noise = [(points.points[:6] - torch.tensor([1.0, 0.0]))[0].tolist() for points in sets]
    assert len({tuple(pair) for pair in noise}) == 6


def test_a_study_repeats() -> None:
    methods = choose_methods(['shufflemix'])
    first, again = (study_record(TINY, run_study(methods, TINY)) for _ in range(2))
    assert first == again


def test_the_record_is_plain_data() -> None:
    study = Study(seeds=range(2, 4))
    record = study_record(study, [outcome('nfm', 3, 2, 71.5)])
    assert json.loads(json.dumps(record)) == record
    assert record['settings']['seeds'] == [2, 3]
    assert record['settings']['schedule']['epochs'] == study.schedule.epochs
    assert record['results'] == [
        {'method': 'nfm', 'classes': 3, 'seed': 2, 'train_accuracy': 99.0, 'test_accuracy': 71.5}
    ]


def test_the_table_of_one_seed() -> None:
    outcomes = [
        outcome(BEST, 2, 0, 91.25),
        outcome('weight_decay', 2, 0, 88.0),
        outcome('weight_decay', 3, 0, 70.04),
        outcome(BEST, 3, 0, 72.0),
    ]
    assert accuracy_table(outcomes).splitlines() == [
        'method         2 classes  3 classes',
        'Weight decay        88.0       70.0',
        'best possible       91.2       72.0',
    ]


def test_the_table_of_seeds_has_mean_and_sample_deviation() -> None:
    # Squared distances from the mean 86: 4 + 0 + 4 = 8, and the root of 8 / 2 is 2.
    outcomes = [outcome('nfm', 2, seed, value) for seed, value in enumerate((84, 86, 88))]
    assert accuracy_table(outcomes).splitlines()[1].split() == ['NFM', '86.0', '±', '2.0']


@pytest.mark.parametrize(
    ('seeds', 'message'),
    [
        ((1, 1), r'seeds must differ, got \[1, 1\]'),
        ((), 'a study needs at least one seed'),
        ((0, -1), r'seeds must lie in \[0, 2\^31\), got -1'),
        ((2**31,), r'seeds must lie in \[0, 2\^31\), got 2147483648'),
    ],
)
def test_bad_seeds(seeds: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Study(seeds=seeds)


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'noise': float('nan')}, r'noise must lie in \[0, 10\], got nan'),
        ({'train_points': 0}, 'each class needs at least 1 point, got 0'),
        ({'test_points': 0}, 'each class needs at least 1 point, got 0'),
    ],
)
def test_bad_points(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Study(**settings)
