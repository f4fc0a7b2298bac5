from __future__ import annotations

import math

import pytest
import torch
from sklearn.datasets import make_circles

from mmshufflemix.decision_boundary import best_accuracy, draw_rings


@pytest.mark.parametrize(
    ('num_classes', 'radii'), [(2, [1, 1 / 2]), (3, [1, 2 / 3, 1 / 3]), (4, [1, 0.75, 0.5, 0.25])]
)
def test_without_noise_each_class_is_a_circle(num_classes: int, radii: list[float]) -> None:
    rings = draw_rings(num_classes, 7, 0, seed=0)
    assert rings.points.shape == (7 * num_classes, 2)
    assert rings.points.dtype == torch.float32
    assert torch.bincount(rings.labels).tolist() == [7] * num_classes
    for label, radius in enumerate(radii):
        x, y = rings.points[rings.labels == label].double().T
        angles = torch.atan2(y, x) % (2 * math.pi - 1e-6)
        torch.testing.assert_close(x**2 + y**2, torch.full((7,), radius**2).double())
        turns = angles.sort().values * 7 / (2 * math.pi)
        torch.testing.assert_close(turns, torch.arange(7).double(), atol=1e-4, rtol=0)


def test_two_classes_are_scikit_learns_circles() -> None:
    points, labels = make_circles(20, noise=0.3, factor=0.5, random_state=4, shuffle=False)
    rings = draw_rings(2, 10, 0.3, seed=4)
    torch.testing.assert_close(rings.points, torch.from_numpy(points).float())
    assert rings.labels.tolist() == labels.tolist()


@pytest.mark.parametrize('num_classes', [2, 3])
def test_noise_has_the_given_deviation_and_differs_between_rings(num_classes: int) -> None:
    clean = draw_rings(num_classes, 4000, 0, seed=1)
    noise = draw_rings(num_classes, 4000, 0.2, seed=1).points - clean.points
    by_class = noise.reshape(num_classes, -1)
    assert by_class.std(dim=1).tolist() == pytest.approx([0.2] * num_classes, rel=0.05)
    correlation = torch.corrcoef(by_class) - torch.eye(num_classes)
    assert correlation.abs().max() < 0.05


def test_seeds() -> None:
    first, again, other = (draw_rings(3, 5, 0.1, seed).points for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_the_best_accuracy_agrees_with_a_sum_over_many_gaussians() -> None:
    noise = 0.25
    rings = draw_rings(3, 300, noise, seed=3)
    centres = draw_rings(3, 720, 0, seed=0)
    log_densities = -(torch.cdist(rings.points, centres.points).double() ** 2) / (2 * noise**2)
    by_class = log_densities.reshape(900, 3, 720).logsumexp(dim=2)
    hits = (by_class.argmax(dim=1) == rings.labels).double().mean()
    assert best_accuracy(rings, noise) == pytest.approx(100 * hits.item(), abs=0.12)


@pytest.mark.parametrize('noise', [0, 1e-4])
def test_the_best_accuracy_with_next_to_no_noise(noise: float) -> None:
    assert best_accuracy(draw_rings(3, 50, noise, seed=0), noise) == 100


def test_hopeless_noise_leaves_chance() -> None:
    assert best_accuracy(draw_rings(2, 20000, 10, seed=0), 10) == pytest.approx(50, abs=1)


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ((1, 5, 0.1, 0), 'rings need at least 2 classes, got 1'),
        ((2, 0, 0.1, 0), 'each class needs at least 1 point, got 0'),
        ((2, 5, -0.1, 0), r'noise must lie in \[0, 10\], got -0.1'),
        ((2, 5, math.nan, 0), r'noise must lie in \[0, 10\], got nan'),
        ((2, 5, 0.1, -1), r'a seed of points must lie in \[0, 2\^32\), got -1'),
    ],
)
def test_bad_arguments(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw_rings(*arguments)
