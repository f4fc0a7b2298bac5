"""The distribution over parts, on random sets of labels."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from mmshufflemix.dataset_split.stratify import part_sizes, stratify

THREE = (0.6, 0.2, 0.2)
FIVE = (0.2,) * 5


def draw(seed: int) -> np.ndarray:
    """Labels of 40 to 300 images and 1 to 15 classes, some of them rare."""
    rng = np.random.default_rng(seed)
    count, classes = int(rng.integers(40, 300)), int(rng.integers(1, 15))
    return rng.random((count, classes)) < rng.uniform(0.005, 0.4, classes)


def alone(labels: np.ndarray) -> np.ndarray:
    return np.arange(len(labels))


def split(labels: np.ndarray, shares: tuple[float, ...], seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return stratify(labels, alone(labels), shares, generator, ranked=shares is THREE)


@pytest.mark.parametrize('shares', [THREE, FIVE])
def test_sizes_shares_and_rare_classes(shares: tuple[float, ...]) -> None:
    for seed in range(60):
        labels = draw(seed)
        parts = split(labels, shares, seed)
        assert parts.shape == (len(labels),)
        for part, share in enumerate(shares):
            assert abs(np.sum(parts == part) - share * len(labels)) <= 1.5
        for has in labels.T:
            total = int(has.sum())
            found = [int(has[parts == part].sum()) for part in range(len(shares))]
            for share, count in zip(shares, found, strict=True):
                assert abs(count - share * total) <= 3 + 0.1 * total
            if total >= len(shares):
                assert min(found) > 0
            elif shares is THREE:
                # With one image it is in train, with two in train and val.
                assert found == [1] * total + [0] * (3 - total)
            else:
                assert max(found, default=0) <= 1


def test_it_is_more_even_than_chance() -> None:
    def error(parts: np.ndarray, labels: np.ndarray) -> float:
        return sum(
            abs(labels[parts == part].sum(0) - share * labels.sum(0)).sum()
            for part, share in enumerate(THREE)
        )

    ours, chance = 0.0, 0.0
    for seed in range(20):
        labels = draw(seed)
        parts = split(labels, THREE, seed)
        ours += error(parts, labels)
        chance += error(np.random.default_rng(seed).permutation(parts), labels)
    assert ours < 0.4 * chance


def test_seeds() -> None:
    labels = draw(1)
    before = np.random.get_state()[1].copy()
    one, again, other = (split(labels, THREE, seed) for seed in (0, 0, 1))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert np.array_equal(np.random.get_state()[1], before)


def test_bundles_stay_together() -> None:
    for seed in range(30):
        labels = draw(seed)
        bundles = np.random.default_rng(seed).integers(0, len(labels) // 3, len(labels))
        bundles = np.unique(bundles, return_inverse=True)[1]
        parts = stratify(labels, bundles, THREE, np.random.default_rng(seed))
        for number in range(bundles.max() + 1):
            assert len(set(parts[bundles == number])) == 1
        largest = max(Counter(bundles).values())
        for part, share in enumerate(THREE):
            assert abs(np.sum(parts == part) - share * len(labels)) <= largest
        for has in labels.T:
            places = {int(part) for part in parts[has]}
            assert len(places) == min(3, len(set(bundles[has])))


def test_one_large_group_leaves_the_others_to_the_other_parts() -> None:
    bundles = np.array([0] * 90 + list(range(1, 11)))
    parts = stratify(np.ones((100, 1), bool), bundles, THREE, np.random.default_rng(0))
    assert set(parts[:90]) == {0}
    assert sorted(np.bincount(parts)) == [5, 5, 90]


def test_no_part_is_empty() -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        bundles = np.repeat(np.arange(4), rng.integers(1, 6, 4))
        labels = rng.random((len(bundles), 2)) < rng.choice([0, 0.3])
        for shares in (THREE, (0.25,) * 4):
            parts = stratify(labels, bundles, shares, rng)
            assert len(set(parts.tolist())) == len(shares)


def test_without_labels_sizes_still_fit() -> None:
    parts = split(np.zeros((10, 2), bool), THREE, 0)
    assert np.bincount(parts).tolist() == [6, 2, 2]


@pytest.mark.parametrize(
    ('total', 'shares', 'expected'),
    [
        (40, THREE, [24, 8, 8]),
        (7, (0.5, 0.5), [4, 3]),
        (3, (0.9, 0.05, 0.05), [1, 1, 1]),
        (12, FIVE, [3, 3, 2, 2, 2]),
        (10, (0.7, 0.1, 0.2), [7, 1, 2]),
    ],
)
def test_part_sizes(total: int, shares: tuple[float, ...], expected: list[int]) -> None:
    assert part_sizes(total, shares) == expected


def test_too_few() -> None:
    with pytest.raises(ValueError, match='2 images cannot fill 3 parts'):
        part_sizes(2, THREE)
    with pytest.raises(ValueError, match='5 images form 2 groups .* cannot fill 3 parts'):
        stratify(np.ones((5, 1), bool), np.array([0, 0, 0, 1, 1]), THREE, np.random.default_rng(0))
