from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from mmshufflemix import live_plan
from mmshufflemix.augments import base
from mmshufflemix.decision_boundary import (
    METHODS,
    Method,
    PointSet,
    Schedule,
    accuracy,
    draw_rings,
    probabilities,
    train_network,
)
from mmshufflemix.plan import MixPlan

RINGS = draw_rings(2, 20, 0.1, seed=0)
SHORT = Schedule(epochs=10, batch_size=10)


def weights(method: Method, seed: int = 0, schedule: Schedule = SHORT) -> torch.Tensor:
    model = train_network(method, RINGS, seed, schedule)
    return torch.cat([tensor.flatten() for tensor in model.state_dict().values()])


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> tuple[list[MixPlan], list[MixPlan]]:
    """Record the plans that the engine draws, and those that it applies to hidden layers."""
    drawn: list[MixPlan] = []
    applied: list[MixPlan] = []

    def recorder(function: Callable, found: Callable) -> Callable:
        def record(*args, **kwargs):
            result = function(*args, **kwargs)
            found(args, result)
            return result

        return record

    draw = recorder(base.draw_plan, lambda args, plan: drawn.append(plan))
    mix = recorder(live_plan.mix_layer, lambda args, features: applied.append(args[1]))
    monkeypatch.setattr(base, 'draw_plan', draw)
    monkeypatch.setattr(live_plan, 'mix_layer', mix)
    return drawn, applied


@pytest.mark.parametrize('name', ['shufflemix', 'shufflemix_hard', 'manifold_mixup', 'nfm'])
def test_every_step_is_mixed_by_the_engine(
    name: str, plans: tuple[list[MixPlan], list[MixPlan]]
) -> None:
    train_network(METHODS[name], RINGS, 0, SHORT)
    drawn, applied = plans
    assert len(drawn) == 40
    assert {plan.site.name for plan in drawn} == {
        'input',
        *(f'backbone.layers.{k}' for k in range(3)),
    }
    assert [id(plan) for plan in applied] == [id(p) for p in drawn if not p.site.is_input]
    half = name.startswith('shufflemix')
    for plan in drawn:
        channels = 2 if plan.site.is_input else 64
        assert len(plan.channels) == (channels // 2 if half else channels)
        assert len(plan.perm) == 10
        assert (plan.lam == 0) == (name == 'shufflemix_hard')
        assert (plan.add_noise > 0) == (name == 'nfm')


def test_input_mixup_mixes_the_coordinates_only(
    plans: tuple[list[MixPlan], list[MixPlan]],
) -> None:
    train_network(METHODS['input_mixup'], RINGS, 0, SHORT)
    assert len(plans[0]) == 40
    assert {plan.site.name for plan in plans[0]} == {'input'}
    assert plans[1] == []


@pytest.mark.parametrize('name', ['baseline', 'weight_decay', 'dropout'])
def test_the_others_mix_nothing(name: str, plans: tuple[list[MixPlan], list[MixPlan]]) -> None:
    train_network(METHODS[name], RINGS, 0, SHORT)
    assert plans == ([], [])


def test_evaluation_is_not_mixed(plans: tuple[list[MixPlan], list[MixPlan]]) -> None:
    model = train_network(METHODS['shufflemix'], RINGS, 0, SHORT)
    before = [len(found) for found in plans]
    first, again = (probabilities(model, RINGS.points) for _ in range(2))
    assert torch.equal(first, again)
    assert [len(found) for found in plans] == before


def test_mixing_with_lambda_one_is_the_baseline() -> None:
    nothing = Method('Nothing', {'type': 'ShuffleMix', 'alpha': 0})
    torch.testing.assert_close(weights(nothing), weights(METHODS['baseline']), atol=1e-4, rtol=1e-4)


def test_methods_differ_and_one_seed_repeats() -> None:
    found = {name: weights(method) for name, method in METHODS.items()}
    baseline = found.pop('baseline')
    assert all((tensor - baseline).abs().max() > 1e-3 for tensor in found.values())
    for name in ('shufflemix_nfm', 'dropout'):
        assert torch.equal(found[name], weights(METHODS[name]))
        assert not torch.equal(found[name], weights(METHODS[name], seed=1))


def test_weight_decay_makes_weights_smaller() -> None:
    strong = Method('Strong', weight_decay=0.1)
    assert weights(strong).norm() < 0.8 * weights(METHODS['baseline']).norm()


def test_the_global_generator_and_threads_are_left_alone() -> None:
    threads = torch.get_num_threads()
    torch.manual_seed(11)
    expected = torch.rand(3)
    torch.manual_seed(11)
    train_network(METHODS['shufflemix_nfm'], RINGS, 0, Schedule(epochs=1))
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize('num_classes', [2, 3])
def test_a_short_baseline_is_far_above_chance(num_classes: int) -> None:
    train, test = (draw_rings(num_classes, 40, 0.05, seed) for seed in (0, 1))
    model = train_network(METHODS['baseline'], train, 0, Schedule(epochs=40, batch_size=40))
    assert accuracy(model, test) > 90


def test_accuracy_counts_points() -> None:
    model = train_network(METHODS['baseline'], RINGS, 0, Schedule(epochs=1))
    predicted = [int(row.argmax()) for row in probabilities(model, RINGS.points)]
    labels = torch.tensor(predicted)
    labels[:10] = 1 - labels[:10]
    assert accuracy(model, PointSet(RINGS.points, labels, 2)) == 75


def test_no_epochs_are_refused() -> None:
    with pytest.raises(ValueError, match='training needs at least 1 epoch, got 0'):
        Schedule(epochs=0)
