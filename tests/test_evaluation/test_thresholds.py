"""The search of thresholds against loops and hand calculations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mmshufflemix.evaluation.thresholds import (
    TuningRule,
    best_threshold,
    held_out_measures,
    tune_thresholds,
)

ALL = TuningRule(min_support=1)


def counts_at(scores: Any, positive: Any, threshold: float) -> tuple[int, int, int]:
    """Right, wrong and missed predictions, one cell at a time."""
    right = wrong = missed = 0
    for score, is_positive in zip(scores, positive, strict=True):
        if score >= threshold:
            right += bool(is_positive)
            wrong += not is_positive
        else:
            missed += bool(is_positive)
    return right, wrong, missed


def f1_at(scores: Any, positive: Any, threshold: float) -> float:
    right, wrong, missed = counts_at(scores, positive, threshold)
    return 2 * right / (2 * right + wrong + missed)


def precision_at(scores: Any, positive: Any, threshold: float) -> float:
    right, wrong, _ = counts_at(scores, positive, threshold)
    return right / (right + wrong)


def draw_cells(seed: int, size: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Scores on a grid of eleven values, so that there are many ties."""
    rng = np.random.default_rng(seed)
    positive = rng.random(size) < 0.3
    positive[0] = True
    return rng.integers(0, 11, size) / 10, positive


@pytest.mark.parametrize('seed', range(20))
def test_best_f1_by_trying_every_score(seed: int) -> None:
    scores, positive = draw_cells(seed)
    values = {float(score): f1_at(scores, positive, score) for score in scores}
    best = max(values.values())
    highest = max(score for score, value in values.items() if value == best)
    lower = max((score for score in scores if score < highest), default=None)
    found, _ = best_threshold(scores, positive)
    expected = highest if lower is None else (highest + lower) / 2
    assert found == pytest.approx(expected, abs=1e-12)
    assert f1_at(scores, positive, found) == best


@pytest.mark.parametrize('seed', range(20))
@pytest.mark.parametrize('precision', [0.25, 0.5, 1.0])
def test_lowest_of_a_precision_by_trying_every_score(seed: int, precision: float) -> None:
    scores, positive = draw_cells(seed)
    values = {float(score): precision_at(scores, positive, score) for score in scores}
    enough = [score for score, value in values.items() if value >= precision]
    found, reached = best_threshold(scores, positive, precision)
    assert reached == bool(enough)
    target = (
        min(enough) if enough else min(k for k, v in values.items() if v == max(values.values()))
    )
    assert counts_at(scores, positive, found) == counts_at(scores, positive, target)


@pytest.mark.parametrize(
    ('scores', 'positive', 'precision', 'expected'),
    [
        ([0.9, 0.6, 0.2], [1, 1, 0], None, 0.4),
        ([0.9, 0.6, 0.2], [1, 1, 1], None, 0.2),
        # F1 is 2/3 at 0.9 (1 of 1, 1 of 2) and at 0.3 (2 of 4, 2 of 2): the higher one.
        ([0.9, 0.8, 0.7, 0.3], [1, 0, 0, 1], None, 0.85),
        ([0.5, 0.5, 0.5], [1, 0, 0], None, 0.5),
        # Precision by falling score: 1, 1/2, 2/3, 2/4.
        ([0.8, 0.6, 0.4, 0.2], [1, 0, 1, 0], 0.6, 0.3),
        ([0.8, 0.6, 0.4, 0.2], [1, 0, 1, 0], 0.9, 0.7),
        ([0.8, 0.6, 0.4, 0.2], [1, 0, 1, 0], 0.5, 0.2),
        ([0.8, 0.6], [0, 1], 0.9, 0.6),
    ],
)
def test_by_hand(scores: list, positive: list, precision: float | None, expected: float) -> None:
    found, reached = best_threshold(np.array(scores), np.array(positive, bool), precision)
    assert found == pytest.approx(expected, abs=1e-12)
    assert reached == (scores != [0.8, 0.6])


def test_neighbouring_scores_stay_apart() -> None:
    low = 0.5
    high = np.nextafter(low, 1)
    found, _ = best_threshold(np.array([high, low]), np.array([True, False]))
    assert found == high


def test_support_difficult_cells_and_shrinkage() -> None:
    """Class 0 is easy, class 1 has one positive, class 2 none."""
    scores = np.array([[0.9, 0.3, 0.1], [0.7, 0.2, 0.1], [0.3, 0.1, 0.2], [0.95, 0.1, 0.1]])
    targets = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0]])
    valid = np.ones((4, 3), bool)
    valid[3, 0] = False
    tuned = tune_thresholds(scores, targets, valid, TuningRule(min_support=2))
    # F1 of all cells together: 2/4 at 0.9, 4/5 at 0.7, 6/7 at 0.3, 6/9 at 0.2.
    assert tuned.shared == pytest.approx(0.25)
    assert tuned.own.tolist() == [True, False, False]
    assert tuned.thresholds == pytest.approx([0.5, 0.25, 0.25])
    one = tune_thresholds(scores, targets, valid, ALL)
    assert one.thresholds == pytest.approx([0.5, 0.25, 0.25])
    assert one.own.tolist() == [True, True, False]
    pulled = tune_thresholds(scores, targets, valid, TuningRule(min_support=2, shrinkage=6))
    assert pulled.thresholds[0] == pytest.approx((2 * 0.5 + 6 * 0.25) / 8)
    # With the difficult cell counted, 0.95 is a false positive above all.
    counted = tune_thresholds(scores, targets, np.ones((4, 3), bool), ALL)
    assert counted.thresholds[0] == pytest.approx(0.5)
    strict = TuningRule(precision=1.0, min_support=1)
    assert tune_thresholds(scores, targets, valid, strict).reached.all()
    assert not tune_thresholds(scores, targets, np.ones((4, 3), bool), strict).reached[0]


def test_held_out_predictions_never_see_their_fold() -> None:
    """By loops: each image is predicted with the thresholds of all others."""
    rng = np.random.default_rng(5)
    targets = rng.random((40, 3)) < 0.4
    scores = 0.25 * targets + 0.35 * rng.random((40, 3))
    valid = rng.random((40, 3)) < 0.9
    measures = held_out_measures(scores, targets, valid, ALL, folds=40)
    predicted = np.zeros((40, 3), bool)
    for image in range(40):
        rest = [index for index in range(40) if index != image]
        for k in range(3):
            cells = [index for index in rest if valid[index, k]]
            found, _ = best_threshold(scores[cells, k], targets[cells, k])
            predicted[image, k] = scores[image, k] >= found
    right = (predicted & targets & valid).sum()
    f1 = 2 * right / ((predicted & valid).sum() + (targets & valid).sum())
    assert measures['per class']['OF1'] == pytest.approx(f1)
    plain = (scores >= 0.5) & valid
    f1 = 2 * (plain & targets).sum() / (plain.sum() + (targets & valid).sum())
    assert measures['0.5']['OF1'] == pytest.approx(f1)
    assert measures['per class']['OF1'] > measures['0.5']['OF1']
    five = [held_out_measures(scores, targets, valid, ALL, 5, seed) for seed in (0, 0, 1)]
    assert five[0] == five[1] != five[2]


def test_noise_gains_nothing_where_classes_are_alike() -> None:
    """On pure noise a shared threshold must not lose to tuning by class on held-out images."""
    rng = np.random.default_rng(0)
    targets = rng.random((200, 20)) < 0.05
    scores = rng.random((200, 20))
    valid = np.ones_like(targets)
    shared = held_out_measures(scores, targets, valid, TuningRule(min_support=10**6))
    assert shared['shared'] == shared['per class']
    own = held_out_measures(scores, targets, valid, ALL)
    assert own['per class']['OF1'] < own['shared']['OF1'] + 0.01


def test_mistakes() -> None:
    cells = np.array([[0.5], [np.nan]])
    with pytest.raises(ValueError, match='1 of 2 scores are NaN'):
        tune_thresholds(cells, np.array([[1], [0]]), np.ones((2, 1), bool), ALL)
    with pytest.raises(ValueError, match='none of 2 cells is positive'):
        tune_thresholds(np.ones((2, 1)), np.zeros((2, 1)), np.ones((2, 1), bool), ALL)
    one = np.array([[1], [0]])
    for folds in (1, 3):
        with pytest.raises(ValueError, match=r'from 2 to the number of images \(2\)'):
            held_out_measures(np.ones((2, 1)), one, np.ones((2, 1), bool), ALL, folds)
    with pytest.raises(ValueError, match='outside one of 2 folds have no positive'):
        held_out_measures(np.ones((2, 1)), one, np.ones((2, 1), bool), ALL, 2)
    for values, message in (
        ({'precision': 0.0}, 'precision must be above 0'),
        ({'precision': float('nan')}, 'precision must be above 0'),
        ({'min_support': 0}, 'min_support must be at least 1'),
        ({'shrinkage': -1.0}, 'shrinkage must be a number of at least 0'),
        ({'shrinkage': 1.0, 'precision': 0.5}, 'use one of the two'),
    ):
        with pytest.raises(ValueError, match=message):
            TuningRule(**values)
