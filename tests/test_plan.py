from __future__ import annotations

from collections import Counter

import pytest
import torch

from mmshufflemix.functional import mix_features
from mmshufflemix.layers import LayerSite
from mmshufflemix.plan import draw_lambda, draw_plan, mix_layer

SITES = [LayerSite('input', 3, 1), LayerSite('backbone.layer1', 8, 1)]


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_one_seed_gives_one_plan_and_the_global_state_is_left_alone():
    state = torch.get_rng_state()
    first, second = (draw_plan(SITES, 5, ratio=0.5, generator=generator(7)) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), state)
    assert first.site == second.site
    assert first.lam == second.lam
    assert first.noise_seed == second.noise_seed
    assert torch.equal(first.perm, second.perm)
    assert torch.equal(first.channels, second.channels)


def test_layers_are_drawn_evenly_and_channels_without_replacement():
    rng = generator()
    plans = [draw_plan(SITES, 4, ratio=0.5, generator=rng) for _ in range(400)]
    assert 150 < Counter(plan.site.name for plan in plans)['input'] < 250
    hidden = [plan for plan in plans if not plan.site.is_input]
    assert all(len(set(plan.channels.tolist())) == 4 for plan in hidden)
    counts = Counter(c for plan in hidden for c in plan.channels.tolist())
    assert set(counts) == set(range(8))
    assert max(counts.values()) < 1.5 * min(counts.values())


def test_label_weight_follows_the_layer():
    for seed in range(20):
        plan = draw_plan(SITES, 4, ratio=0.5, generator=generator(seed))
        mixed, total = (1, 3) if plan.site.is_input else (4, 8)
        assert plan.label_weight == pytest.approx(1 - mixed / total * (1 - plan.lam))


def test_hard_is_lambda_zero_under_the_same_draws():
    soft = draw_plan(SITES, 4, ratio=0.5, generator=generator(3))
    hard = draw_plan(SITES, 4, ratio=0.5, hard=True, generator=generator(3))
    assert hard.lam == 0
    assert torch.equal(soft.channels, hard.channels)
    assert torch.equal(soft.perm, hard.perm)


def test_each_image_has_its_own_draws_when_asked():
    differing = Counter()
    rng = generator()
    for _ in range(100):
        plan = draw_plan(SITES[1:], 6, ratio=0.5, per_sample=True, generator=rng)
        assert plan.lam.shape == (6,)
        assert plan.channels.shape == (6, 4)
        assert plan.label_weight.shape == (6,)
        differing['lam'] += len(set(plan.lam.tolist())) == 6
        differing['channels'] += len({tuple(sorted(row)) for row in plan.channels.tolist()}) > 1
    assert differing == {'lam': 100, 'channels': 100}


@pytest.mark.parametrize('size', [None, 500])
def test_tiny_alpha_gives_numbers_and_zero_alpha_means_no_mixing(size):
    rng = generator()
    draws = [draw_lambda(0.01, size, rng) for _ in range(1 if size else 500)]
    values = torch.as_tensor(draws, dtype=torch.float64).flatten() if size is None else draws[0]
    assert values.isfinite().all()
    assert ((values >= 0) & (values <= 1)).all()
    assert 0.3 < values.mean() < 0.7
    none = torch.as_tensor(draw_lambda(0, size))
    assert (none == 1).all()


def test_lambda_has_the_moments_of_the_beta_distribution():
    for alpha in (0.5, 1.0, 8.0):
        values = draw_lambda(alpha, 20_000, generator())
        assert values.mean().item() == pytest.approx(0.5, abs=0.01)
        assert values.var().item() == pytest.approx(1 / (4 * (2 * alpha + 1)), rel=0.05)


def test_a_plan_mixes_its_layer_and_repeats_its_noise():
    plan = draw_plan(SITES[1:], 4, ratio=0.5, add_noise=0.4, mult_noise=0.2, generator=generator())
    x = torch.randn(4, 8, 3, 3, generator=generator(1))
    noisy = mix_layer(x, plan)
    assert torch.equal(noisy, mix_layer(x, plan))
    clean = mix_features(x, plan.perm, plan.channels, plan.lam)
    assert not torch.equal(noisy, clean)
    assert (noisy - clean).abs().max() < 3


@pytest.mark.parametrize('shape', [(3, 8, 2, 2), (4, 9, 2, 2), (4,)])
def test_features_that_the_labels_were_not_mixed_for_are_refused(shape):
    plan = draw_plan(SITES[1:], 4, generator=generator())
    with pytest.raises(RuntimeError, match="layer 'backbone.layer1' gave features of shape"):
        mix_layer(torch.ones(shape), plan)
