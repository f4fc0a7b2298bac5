"""Optimizers against the states of others."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from mmengine.optim import CosineAnnealingMomentum, OneCycleLR, OptimWrapper
from torch import nn
from torch.optim import SGD, Adam, AdamW, Optimizer, RMSprop

from mmshufflemix.resume_check.optimizer import changed_kind, changed_settings, check_groups


class NoNews(Adam):
    """Another class with the same settings."""


def groups(kind: type[Optimizer] = SGD, **settings: Any) -> list[dict[str, Any]]:
    """The groups of a state, as a checkpoint has them."""
    weights = nn.Linear(2, 3).parameters()
    return kind(weights, **{'lr': 0.1, **settings}).state_dict()['param_groups']


def defaults(kind: type[Optimizer] = SGD) -> dict[str, Any]:
    """The settings that an optimizer has by itself."""
    return kind(nn.Linear(2, 3).parameters(), lr=0.1).defaults


@pytest.mark.parametrize('kind', [SGD, Adam, AdamW])
def test_the_same_is_no_change(kind: type[Optimizer]) -> None:
    check_groups(groups(kind), groups(kind), defaults(kind))
    assert changed_settings(groups(kind), groups(kind)) == []


def test_changes_are_named_with_both_values() -> None:
    old, new = groups(Adam, betas=(0.9, 0.99)), groups(Adam, lr=0.2, betas=[0.8, 0.99])
    assert changed_settings(old, new) == [
        'lr 0.2 (checkpoint 0.1)',
        'betas (0.8, 0.99) (checkpoint (0.9, 0.99))',
    ]


def test_rates_under_a_schedule_are_compared_by_their_start() -> None:
    old, new = groups(lr=0.003), groups(lr=0.05)
    old[0]['initial_lr'] = new[0]['initial_lr'] = 0.1
    assert changed_settings(old, new) == []
    new[0]['initial_lr'] = 0.2
    assert changed_settings(old, new) == ['lr 0.2 (checkpoint 0.1)']
    # Without a schedule now, the config's rate is what the other one started from.
    assert changed_settings(old, groups(lr=0.1)) == []


def test_betas_under_a_schedule_are_compared_by_their_start() -> None:
    def scheduled(beta: float, steps: int) -> list[dict[str, Any]]:
        wrapper = OptimWrapper(AdamW(nn.Linear(2, 3).parameters(), betas=(beta, 0.99)))
        schedule = CosineAnnealingMomentum(wrapper, T_max=4, eta_min=0.5)
        for _ in range(steps):
            schedule.optimizer.step()
            schedule.step()
        return wrapper.optimizer.state_dict()['param_groups']

    old = scheduled(0.9, 2)
    assert old[0]['betas'][0] < 0.9
    assert changed_settings(old, scheduled(0.9, 0)) == []
    expected = ['betas (0.8, 0.99) (checkpoint (0.9, 0.99))']
    assert changed_settings(old, scheduled(0.8, 0)) == expected
    # Without a schedule before, or now.
    with pytest.raises(ValueError, match='param_scheduler has a schedule of the momentum, which'):
        check_groups(groups(AdamW), scheduled(0.9, 0), defaults(AdamW))
    assert changed_settings(old, groups(AdamW, lr=0.001, betas=(0.8, 0.99))) == expected


def test_of_several_groups_the_one_that_the_config_names_is_shown() -> None:
    def three(lr: float, *factors: float) -> list[dict[str, Any]]:
        return [groups(lr=lr * factor)[0] for factor in factors]

    old, new = three(0.05, 0.1, 1, 2), three(0.1, 0.1, 1, 2)
    assert changed_settings(old, new, {'lr': 0.1}) == ['lr 0.1 (checkpoint 0.05)']
    assert changed_settings(old, new) == ['lr 0.2 (checkpoint 0.1) in a group of weights']
    # Another multiplier alone.
    assert changed_settings(three(0.1, 0.1, 1), three(0.1, 0.5, 1), {'lr': 0.1}) == [
        'lr 0.05 (checkpoint 0.01) in a group of weights'
    ]


@pytest.mark.parametrize(
    ('kind', 'switch', 'more'),
    [
        (SGD, 'nesterov', {'momentum': 0.9}),
        (SGD, 'maximize', {}),
        (AdamW, 'amsgrad', {}),
        (RMSprop, 'centered', {}),
    ],
)
def test_switches_that_change_a_step(
    kind: type[Optimizer], switch: str, more: dict[str, Any]
) -> None:
    old, new = groups(kind, **more), groups(kind, **more, **{switch: True})
    assert changed_settings(old, new, new[0]) == [f'{switch} True (checkpoint False)']
    assert changed_settings(new, old) == [f'{switch} False (checkpoint True)']
    old[0][switch] = None
    assert changed_settings(old, new, old[0]) == []
    del old[0][switch]
    assert changed_settings(old, new) == []


def test_a_rate_may_be_a_tensor_and_ways_to_calculate_do_not_count() -> None:
    old = groups(lr=torch.tensor(0.5, dtype=torch.float64))
    assert changed_settings(old, groups(lr=0.5, nesterov=False)) == []
    old[0].update(foreach=True, fused=True, differentiable=True)
    assert changed_settings(old, groups(lr=0.5)) == []


@pytest.mark.parametrize(
    ('old', 'new', 'lacking'),
    [(SGD, AdamW, 'betas'), (Adam, SGD, 'momentum')],
)
def test_another_kind_is_refused_since_the_first_step_would_fail(
    old: type[Optimizer], new: type[Optimizer], lacking: str
) -> None:
    with pytest.raises(ValueError, match=f"another optimizer, whose state has no '{lacking}'"):
        check_groups(groups(old), groups(new), defaults(new))
    weight = nn.Parameter(torch.ones(1))
    optimizer = new([weight], lr=0.1)
    stored = old([weight], lr=0.1).state_dict()
    optimizer.load_state_dict(stored)
    weight.sum().backward()
    with pytest.raises(KeyError, match=lacking):
        optimizer.step()


def test_another_class_is_told_by_its_name() -> None:
    same = groups(Adam), groups(NoNews)
    assert changed_kind('Adam', 'NoNews', *same) == 'Adam'
    assert changed_kind('NoNews', 'NoNews', *same) == ''
    # An older checkpoint, or one of another program.
    assert [changed_kind(noted, 'NoNews', *same) for noted in (None, 5)] == ['', '']


def test_without_its_name_adamw_is_told_by_its_weight_decay() -> None:
    old, new = groups(AdamW), groups(Adam)
    assert changed_kind(None, 'Adam', old, new) == 'one with decoupled_weight_decay=True'
    assert changed_kind('Adam', 'Adam', old, new) == 'one with decoupled_weight_decay=True'
    assert changed_kind('AdamW', 'Adam', old, new) == 'AdamW'
    del old[0]['decoupled_weight_decay']
    assert changed_kind(None, 'Adam', old, new) == ''


def test_switches_of_newer_versions_may_be_missing() -> None:
    old = groups(AdamW)
    for name in ('foreach', 'capturable', 'amsgrad', 'decoupled_weight_decay'):
        old[0].pop(name, None)
    check_groups(old, groups(AdamW), defaults(AdamW))


def test_other_weights_are_refused() -> None:
    two = [{**groups()[0], 'params': [0]}, {**groups()[0], 'params': [1]}]
    with pytest.raises(ValueError, match='2 weights in 2 groups and that of the config has 2 weig'):
        check_groups(two, groups(), defaults())


def test_multipliers_may_be_new_and_are_named_as_changes() -> None:
    """MMEngine notes them in the groups, where nothing reads them."""
    new = groups(lr=0.5)
    new[0]['lr_mult'] = 5
    check_groups(groups(), new, defaults())
    assert changed_settings(groups(), new, {'lr': 0.1}) == ['lr 0.5 (checkpoint 0.1)']


def test_a_new_one_cycle_is_named() -> None:
    wrapper = OptimWrapper(SGD(nn.Linear(2, 3).parameters(), lr=0.1))
    OneCycleLR(wrapper, eta_max=0.1, total_steps=4)
    new = wrapper.optimizer.state_dict()['param_groups']
    new[0]['lr_mult'] = 5
    with pytest.raises(ValueError, match='param_scheduler has OneCycleLR, which the run that wrot'):
        check_groups(groups(), new, defaults())
    check_groups(new, new, defaults())
    with pytest.raises(ValueError, match="another optimizer, whose state has no 'momentum'"):
        check_groups(groups(Adam), new, defaults())
