"""Resume a learning rate schedule in a run that is longer than the one that was saved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mmengine.hooks import Hook
from mmengine.runner import Runner
from mmpretrain.registry import HOOKS

__all__ = ['ScheduleResumeHook', 'flat_schedules']

# What MMEngine derives from the length of the run where the config does not say it.
_LENGTHS = ('end', 'T_max', 'total_iters', 'total_steps', '_schedule_phases')


@HOOKS.register_module()
class ScheduleResumeHook(Hook):
    """Lets schedules end where the config says, not where the saved run ended.

    MMEngine stores the end of a run in its schedules: a run of 2 epochs that is resumed for 4 would
    keep its learning rate from the second epoch on, and miss the step between the two. Progress
    comes from the checkpoint, lengths come from the config. A schedule that is drawn out over the
    whole run (cosine) goes on from the rate it has reached, along the longer curve.
    """

    def after_load_checkpoint(self, runner: Runner, checkpoint: dict[str, Any]) -> None:
        """Drop the stored lengths, so that those of the config remain."""
        for state in flat_schedules(checkpoint.get('param_schedulers')):
            for name in _LENGTHS:
                state.pop(name, None)

    def before_train(self, runner: Runner) -> None:
        """Make up for the one step that a schedule does not take at the end of its run."""
        for schedule in flat_schedules(runner.param_schedulers):
            place = schedule._global_step - schedule.begin
            running = schedule.begin <= schedule._global_step < schedule.end
            by_metric = getattr(schedule, 'need_val_args', False)
            if running and not by_metric and schedule.last_step == place - 1:
                # step() counts on before it acts.
                schedule._global_step -= 1
                schedule.step()


def flat_schedules(schedules: Any) -> Iterable[Any]:
    """List schedules, or their states, of one optimizer or of several named ones."""
    if isinstance(schedules, dict):
        return [schedule for group in schedules.values() for schedule in group]
    return schedules or []
