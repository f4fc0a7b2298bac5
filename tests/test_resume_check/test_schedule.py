"""Schedules against the states of others."""

from __future__ import annotations

import math
from typing import Any

import pytest
from mmengine.optim import (
    CosineAnnealingLR,
    LinearLR,
    MultiStepLR,
    OneCycleLR,
    OptimWrapper,
    ReduceOnPlateauLR,
    StepLR,
    _ParamScheduler,
)
from torch import nn
from torch.optim import SGD

from mmshufflemix.resume_check.schedule import (
    RunLength,
    check_cycles,
    is_unfinished,
    schedule_warnings,
)

SHORT, LONG = RunLength(4, 12), RunLength(8, 24)


def build(kind: type[_ParamScheduler], steps: int = 0, **settings: Any) -> _ParamScheduler:
    """Build a schedule and let it take some steps."""
    optimizer = OptimWrapper(SGD(nn.Linear(1, 1).parameters(), lr=0.1))
    schedule = kind(optimizer, **settings)
    for _ in range(steps):
        schedule.optimizer.step()
        schedule.step()
    return schedule


def warnings(
    old: _ParamScheduler,
    new: _ParamScheduler,
    before: RunLength = SHORT,
    now: RunLength = SHORT,
    same_epoch: bool = True,
) -> list[str]:
    states = [old.state_dict()]
    return list(schedule_warnings(states, [new], before, now, same_epoch=same_epoch))


@pytest.mark.parametrize(
    ('kind', 'settings'),
    [
        (CosineAnnealingLR, {'end': 4}),
        (CosineAnnealingLR, {'T_max': 4, 'eta_min_ratio': 0.1}),
        (LinearLR, {'end': 3, 'start_factor': 0.1}),
        (MultiStepLR, {'milestones': [3, 1, 3]}),
        (StepLR, {'step_size': 2, 'end': 4}),
        (ReduceOnPlateauLR, {'monitor': 'loss', 'patience': 3}),
    ],
)
def test_the_same_is_no_change(kind: type[_ParamScheduler], settings: dict[str, Any]) -> None:
    steps = 0 if kind is ReduceOnPlateauLR else 2
    assert warnings(build(kind, steps, **settings), build(kind, **settings)) == []


@pytest.mark.parametrize(
    ('kind', 'old', 'new', 'part'),
    [
        (MultiStepLR, {'milestones': [1]}, {'milestones': [2]}, 'milestones [2] (checkpoint [1])'),
        (StepLR, {'step_size': 2}, {'step_size': 2, 'gamma': 0.3}, 'gamma 0.3 (checkpoint 0.1)'),
        (StepLR, {'step_size': 2}, {'step_size': 2, 'begin': 1}, 'begin 1 (checkpoint 0)'),
        (ReduceOnPlateauLR, {'monitor': 'a'}, {'monitor': 'b'}, "monitor 'b' (checkpoint 'a')"),
        (CosineAnnealingLR, {'T_max': 4}, {'T_max': 6}, 'takes 6 epochs and took 4'),
        (LinearLR, {'end': 3}, {'end': 4}, 'takes 4 epochs and took 3'),
    ],
)
def test_a_change_is_said_once(
    kind: type[_ParamScheduler], old: dict[str, Any], new: dict[str, Any], part: str
) -> None:
    [sentence] = warnings(build(kind, **old), build(kind, **new))
    assert part in sentence


@pytest.mark.parametrize('groups', [[0.1], [0.1, 0.01]])
def test_the_rate_at_which_a_longer_curve_goes_on(groups: list[float]) -> None:
    """At the end of a cosine next to nothing is left, and the new curve goes on from there."""

    def build(steps: int, end: int) -> CosineAnnealingLR:
        parts = [dict(params=nn.Linear(1, 1).parameters(), lr=lr) for lr in groups]
        schedule = CosineAnnealingLR(OptimWrapper(SGD(parts)), T_max=end, end=end)
        for _ in range(steps):
            schedule.optimizer.step()
            schedule.step()
        return schedule

    [sentence] = warnings(build(19, 20), build(0, 22))
    rate = 0.1 * (1 + math.cos(math.pi * 19 / 20)) / 2
    assert f'the value reached on the old one (lr {rate:.2g}), unlike' in sentence
    state = build(19, 20).state_dict()
    for content in (None, [], ['x'], 3):
        state['_last_value'] = content
        [sentence] = schedule_warnings([state], [build(0, 22)], SHORT, SHORT, same_epoch=True)
        assert 'the old one, unlike' in sentence


def test_a_curve_that_is_over_does_not_change() -> None:
    old = build(LinearLR, 5, end=2, start_factor=0.1)
    assert not is_unfinished(old.state_dict(), build(LinearLR, end=3))
    assert warnings(old, build(LinearLR, end=3, start_factor=0.1)) == []
    assert is_unfinished(old.state_dict(), build(LinearLR, end=9))


@pytest.mark.parametrize(
    ('new', 'part'),
    [
        (build(LinearLR, end=4), 'to epoch 8, but its last learning rate schedule, LinearLR, ends'),
        (build(LinearLR, end=4), 'LinearLR, ends at epoch 4 and the rate stays'),
        (build(CosineAnnealingLR, T_max=4, end=8), 'lowest at epoch 4 and rises again'),
        (build(LinearLR, end=12, by_epoch=False), 'the run now goes to iteration 24, but its last'),
        (build(LinearLR, end=12, by_epoch=False), 'ends at iteration 12'),
    ],
)
def test_a_run_longer_than_its_schedules(new: _ParamScheduler, part: str) -> None:
    assert warnings(new, new) == []
    [sentence] = warnings(new, new, SHORT, LONG)
    assert part in sentence


@pytest.mark.parametrize('settings', [{'end': 3}, {'end': 11, 'by_epoch': False}])
def test_a_rate_that_stayed_the_same_before_the_end_is_meant_to(settings: dict[str, Any]) -> None:
    warm_up = build(LinearLR, **settings)
    assert warnings(warm_up, warm_up, SHORT, LONG) == []


def test_one_schedule_that_reaches_the_end_is_enough() -> None:
    both = [build(LinearLR, end=2), build(StepLR, step_size=3, begin=2)]
    states = [schedule.state_dict() for schedule in both]
    assert list(schedule_warnings(states, both, SHORT, LONG, same_epoch=True)) == []
    [sentence] = schedule_warnings(states[:1], both, SHORT, SHORT, same_epoch=True)
    assert 'has 2 schedules in param_scheduler and the checkpoint has 1' in sentence


def test_what_counts_iterations_is_left_out_if_they_are_others() -> None:
    old = build(MultiStepLR, milestones=[3], by_epoch=False)
    new = build(MultiStepLR, milestones=[6], by_epoch=False)
    assert warnings(old, new, same_epoch=False) == []
    assert len(warnings(old, new)) == 1


def test_another_kind() -> None:
    [sentence] = warnings(build(StepLR, step_size=2), build(MultiStepLR, milestones=[1]))
    assert (
        'has MultiStepLR where the checkpoint has another schedule, without milestones' in sentence
    )


@pytest.mark.parametrize('by_epoch', [True, False])
@pytest.mark.parametrize('place', [{'end': 8}, {'begin': 2}, {'end': 7}, {'begin': 1, 'end': 9}])
def test_a_cycle_is_too_short_where_mmengine_would_stop(
    place: dict[str, int], by_epoch: bool
) -> None:
    length, found = 8, set()
    run = RunLength(length, 99) if by_epoch else RunLength(99, length)
    for total in range(2, 12):
        schedule = build(OneCycleLR, eta_max=1.0, total_steps=total, by_epoch=by_epoch, **place)
        try:
            for _ in range(length):
                schedule.optimizer.step()
                schedule.step()
        except ValueError:
            found.add('short')
            unit = 'epochs' if by_epoch else 'iterations'
            with pytest.raises(ValueError, match=f'has total_steps for {total} {unit} and this tr'):
                check_cycles([build(StepLR, step_size=1), schedule], run)
        else:
            found.add('long')
            check_cycles([schedule], run)
    assert found == {'short', 'long'}


def test_a_cycle_as_long_as_the_run_and_other_schedules_pass() -> None:
    run = RunLength(8, 24)
    check_cycles([build(OneCycleLR, eta_max=1.0, end=8), build(CosineAnnealingLR, T_max=2)], run)
