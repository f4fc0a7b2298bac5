"""What MMPretrain's losses make of the target between 0 and 1 that mixing leaves.

A loss is fair to a mix if its value for w * y1 + (1 - w) * y2 is w * loss(y1) + (1 - w) * loss(y2),
as if both images were trained on. The numbers here are those of the documentation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from mmpretrain.registry import MODELS
from torch import Tensor

import mmshufflemix.functional as F

BCE = {'type': 'CrossEntropyLoss', 'use_sigmoid': True}
FAIR = {
    'BCE': BCE,
    'pos_weight': {**BCE, 'pos_weight': [0.3, 1.0, 7.5, 100.0]},
    'class_weight': {**BCE, 'class_weight': [0.1, 1.0, 2.0, 3.0], 'pos_weight': [2.0] * 4},
    'focal without focus': {'type': 'FocalLoss', 'gamma': 0.0, 'alpha': 0.5},
}
UNFAIR = {
    'focal': {'type': 'FocalLoss'},
    'asymmetric': {'type': 'AsymmetricLoss'},
    'asymmetric without focus': {'type': 'AsymmetricLoss', 'gamma_neg': 0.0, 'clip': None},
    'focal without focus, alpha 1/4': {'type': 'FocalLoss', 'gamma': 0.0},
}


def both_sides(config: dict, w: float, logits: Tensor, y1: Tensor, y2: Tensor) -> tuple[Any, Any]:
    """The loss of the mixed target, and the mixed losses."""
    loss = MODELS.build({**config, 'reduction': 'none'})
    mixed = loss(logits, w * y1 + (1 - w) * y2)
    return mixed, w * loss(logits, y1) + (1 - w) * loss(logits, y2)


def cells(seed: int) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(32, 4, generator=generator, dtype=torch.float64)
    y1, y2 = torch.randint(0, 2, (2, 32, 4), generator=generator).double()
    return logits, y1, y2


@pytest.mark.parametrize('name', FAIR)
@pytest.mark.parametrize('w', [0.1, 1 / 3, 0.5, 0.9])
def test_mixed_targets_give_mixed_losses(name: str, w: float) -> None:
    mixed, expected = both_sides(FAIR[name], w, *cells(0))
    torch.testing.assert_close(mixed, expected, rtol=2e-6, atol=1e-9)


@pytest.mark.parametrize('name', UNFAIR)
def test_mixed_targets_give_something_else(name: str) -> None:
    logits, y1, y2 = cells(1)
    mixed, expected = both_sides(UNFAIR[name], 0.5, logits, y1, y2)
    same = y1 == y2
    torch.testing.assert_close(mixed[same], expected[same])
    assert (mixed[~same] - expected[~same]).abs().mean() > 0.05


@pytest.mark.parametrize('name', UNFAIR)
def test_rounded_targets_are_what_they_are_made_for(name: str) -> None:
    """Targets 0 and 1 by a threshold: each cell has the loss of that hard label."""
    logits, y1, y2 = cells(2)
    loss = MODELS.build({**UNFAIR[name], 'reduction': 'none'})
    rounded = F.threshold_targets(0.6 * y1 + 0.4 * y2, 0.3)
    expected = torch.where(
        (y1 + y2) > 0, loss(logits, torch.ones_like(y1)), loss(logits, torch.zeros_like(y1))
    )
    torch.testing.assert_close(loss(logits, rounded), expected)


def score_grid(low: float, high: float, steps: int) -> Tensor:
    # Two classes: targets with one column would be read as class ids.
    return torch.linspace(low, high, steps, dtype=torch.float64)[:, None].repeat(1, 2)


def best_score(config: dict, target: float) -> float:
    """The score of the lowest loss, by trying all."""
    scores = score_grid(0.001, 0.999, 999)
    loss = MODELS.build({**config, 'reduction': 'none'})
    values = loss(scores.logit(), torch.full_like(scores, target))
    return float(scores[values[:, 0].argmin(), 0])


def test_the_score_that_a_loss_asks_for() -> None:
    """BCE asks for the target, weighted BCE for its odds times the weight."""
    assert best_score(BCE, 0.3) == pytest.approx(0.3, abs=1e-3)
    weighted = best_score({**BCE, 'pos_weight': [4.0]}, 0.3)
    assert weighted == pytest.approx(4 * 0.3 / (4 * 0.3 + 0.7), abs=1e-3)
    # Focal loss is surer than its target: (p (1 - t) + (1 - p) t)^2 times cross entropy.
    p, t = np.linspace(0.001, 0.999, 999), 0.3
    focal = (p * (1 - t) + (1 - p) * t) ** 2 * -(t * np.log(p) + (1 - t) * np.log(1 - p))
    assert best_score({'type': 'FocalLoss'}, 0.3) == pytest.approx(p[focal.argmin()], abs=2e-3)
    assert p[focal.argmin()] == pytest.approx(0.122, abs=2e-3)
    # Rounding in disguise: the best score is at one of the ends.
    assert best_score({'type': 'AsymmetricLoss'}, 0.7) == pytest.approx(0.999)
    assert best_score({'type': 'AsymmetricLoss'}, 0.3) < 0.08


def test_half_and_half_teaches_the_asymmetric_loss_nothing() -> None:
    """For the target 1/2 the blended probability, and so the loss, is the same for all scores."""
    scores = score_grid(0.06, 0.99, 50)
    logits = scores.logit().requires_grad_()
    loss = MODELS.build({'type': 'AsymmetricLoss', 'reduction': 'sum'})
    [gradient] = torch.autograd.grad(loss(logits, torch.full_like(scores, 0.5)), logits)
    assert gradient.abs().max() < 1e-12
    hard = torch.autograd.grad(loss(logits, torch.ones_like(scores)), logits)[0]
    assert hard.abs().min() > 1e-3
