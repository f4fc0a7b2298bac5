"""What the learning rate schedules of a resumed run do otherwise than its config says."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mmengine.optim import _ParamScheduler

from mmshufflemix.resume_check.optimizer import WAY_OUT

__all__ = ['RunLength', 'check_cycles', 'is_unfinished', 'schedule_warnings']

State = Mapping[str, Any]

# Lengths: ScheduleResumeHook takes them from the config.
_NO_SETTINGS = {'self', 'args', 'kwargs', 'optimizer', 'last_step', 'verbose'}
_NO_SETTINGS |= {'end', 'T_max', 'total_iters', 'total_steps'}


@dataclass(frozen=True)
class RunLength:
    """How long a whole training is, in epochs and in iterations."""

    epochs: int
    iters: int


def schedule_warnings(
    stored: Sequence[State],
    current: Sequence[_ParamScheduler],
    before: RunLength,
    now: RunLength,
    *,
    same_epoch: bool,
) -> Iterator[str]:
    """Compare the schedules in a checkpoint with those that a config asks for.

    Args:
        stored: Their states, as the checkpoint has them.
        current: As built from the config, before they get the states.
        before: The run that wrote the checkpoint.
        now: This run.
        same_epoch: Whether an epoch has as many iterations as before. If not, schedules that count
            iterations are left out, since all their numbers differ.

    Yields:
        Sentences without a full stop.
    """
    if len(stored) != len(current):
        yield (
            f'the config has {len(current)} schedules in param_scheduler and the checkpoint has '
            f'{len(stored)}, which are matched by their order: what is left over starts from the '
            f'beginning or is dropped; {WAY_OUT}'
        )
        return
    compared = [new for new in current if same_epoch or new.by_epoch]
    for old, new in zip(stored, current, strict=True):
        if new in compared:
            yield from _changed_settings(old, new)
            yield from _changed_length(old, new)
    longer = now.epochs > before.epochs or (same_epoch and now.iters > before.iters)
    if longer and len(compared) == len(current):
        rates = [new for new in current if new.param_name == 'lr']
        yield from _after_the_end(rates, before, now)


def check_cycles(schedules: Iterable[_ParamScheduler], run: RunLength) -> None:
    """Check that schedules with a number of steps of their own have enough for a run.

    Raises:
        ValueError: If MMEngine would end the training where they are used up.
    """
    for schedule in schedules:
        total: Any = getattr(schedule, 'total_steps', None)
        length = _length(run, schedule)
        needed = min(schedule.end, length) - schedule.begin
        # MMEngine lets one more pass, but takes one more where the schedule goes on after the run.
        if isinstance(total, int) and needed + (schedule.end > length) > total + 1:
            unit = 'epochs' if schedule.by_epoch else 'iterations'
            raise ValueError(
                f'{type(schedule).__name__} in param_scheduler has total_steps for {total} {unit} '
                f'and this training has {needed} for it; leave total_steps out, so that it takes '
                'as many as the training, or set end to where it is over.'
            )


def is_unfinished(old: State, new: _ParamScheduler) -> bool:
    """Tell whether a schedule still has something to do, by its old length or by its new one."""
    return old.get('_global_step', 0) < max(old.get('end', new.end), new.end)


def _changed_settings(old: State, new: _ParamScheduler) -> Iterator[str]:
    name = type(new).__name__
    values = {key: value for key, value in vars(new).items() if key in _settings(type(new))}
    lacking = [key for key, value in values.items() if key not in old and value is not None]
    if lacking:
        yield (
            f'param_scheduler has {name} where the checkpoint has another schedule, without '
            f'{lacking[0]}: it goes on from a place that is not its own; {WAY_OUT}'
        )
        return
    pairs = [(key, _shown(values[key]), _shown(old[key])) for key in values if key in old]
    changed = [f'{key} {now} (checkpoint {was})' for key, now, was in pairs if now != was]
    if changed:
        yield (
            f'{name} in param_scheduler has {", ".join(changed)}: the values of the checkpoint '
            f'stay in force, and those of the config are ignored; {WAY_OUT}'
        )


def _changed_length(old: State, new: _ParamScheduler) -> Iterator[str]:
    """Curves that are drawn out over the run."""
    for key, plus in (('T_max', 0), ('total_iters', 1)):
        now: Any = getattr(new, key, None)
        was = old.get(key, now)
        if now != was and is_unfinished(old, new):
            unit = 'epochs' if new.by_epoch else 'iterations'
            yield (
                f'{type(new).__name__} in param_scheduler takes {now + plus} {unit} and took '
                f'{was + plus} when the checkpoint was written: it goes on along the new curve '
                f'from the value reached on the old one{_reached(old)}, unlike a run of the new '
                f'length from its start; if that is not wanted, {WAY_OUT}'
            )


def _reached(old: State) -> str:
    """The value at the end of the checkpoint, the largest of all groups: it may be next to zero."""
    values = old.get('_last_value')
    if not isinstance(values, list | tuple) or not values:
        return ''
    if not all(isinstance(value, float | int) for value in values):
        return ''
    return f' ({old.get("param_name", "value")} {max(values):.2g})'


def _after_the_end(
    schedules: Sequence[_ParamScheduler], before: RunLength, now: RunLength
) -> Iterator[str]:
    """What is left of a run that has become longer than its schedules."""
    for new in schedules:
        top = new.begin + getattr(new, 'T_max', new.end)
        if top < min(new.end, _length(now, new)):
            yield (
                f'{type(new).__name__} in param_scheduler is at its lowest at {_place(new, top)} '
                'and rises again in what the run has become longer; set its T_max and end'
            )
            return
    # A rate that stayed the same at the end of the shorter run, too, is meant to.
    planned = any(new.end >= _length(before, new) for new in schedules)
    if planned and all(new.end < _length(now, new) for new in schedules):
        last = schedules[-1]
        yield (
            f'the run now goes to {_place(last, _length(now, last))}, but its last learning rate '
            f'schedule, {type(last).__name__}, ends at {_place(last, last.end)} and the rate stays '
            'the same from there on; set its end (and T_max) in param_scheduler'
        )


def _length(run: RunLength, schedule: _ParamScheduler) -> int:
    return run.epochs if schedule.by_epoch else run.iters


def _place(schedule: _ParamScheduler, step: int) -> str:
    return f'{"epoch" if schedule.by_epoch else "iteration"} {step}'


def _settings(kind: type) -> set[str]:
    """Names of the arguments of a schedule, which hands most of them to its base classes."""
    found: set[str] = set()
    for base in kind.__mro__[:-1]:
        found.update(inspect.signature(base.__init__).parameters)  # type: ignore[misc]
    return found - _NO_SETTINGS


def _shown(value: Any) -> str:
    if isinstance(value, Counter):
        return str(sorted(value.elements()))
    if isinstance(value, float | int) and not isinstance(value, bool):
        return f'{value:.12g}'
    return f'{value!r:.80}'
