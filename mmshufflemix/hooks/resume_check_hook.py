"""Say what a resumed run does otherwise than its config says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from mmengine import dist
from mmengine.hooks import EMAHook, Hook
from mmengine.optim import OptimWrapperDict
from mmengine.runner import EpochBasedTrainLoop, IterBasedTrainLoop, Runner
from mmpretrain.registry import HOOKS

from mmshufflemix.hooks.schedule_resume_hook import flat_schedules
from mmshufflemix.resume_check import (
    NEW_RUN,
    WAY_OUT,
    Batch,
    RunLength,
    batch_warnings,
    changed_kind,
    changed_settings,
    check_cycles,
    check_first_step,
    check_groups,
    is_unfinished,
    read_batch,
    schedule_warnings,
)

__all__ = [
    'ResumeCheckHook',
    'check_state',
    'finished_sentence',
    'optimizer_warnings',
    'resume_warnings',
]

_RECORD = 'batch'
_KIND = 'optimizer_type'


@HOOKS.register_module()
class ResumeCheckHook(Hook):
    """Warns where a checkpoint and the config of the run that goes on from it do not agree.

    MMEngine takes rates and the settings of optimizer and schedules from the checkpoint, and counts
    on in iterations that may have another size now, all without a word. The size of a batch and
    the class of the optimizer are noted in every checkpoint that is saved.

    Raises:
        ValueError: If the checkpoint holds weights only, the optimizer cannot go on from the
            state in it, or a schedule has fewer steps than the training, also than one that is
            not resumed.
    """

    # Before ScheduleResumeHook, which takes lengths out of the checkpoint.
    priority = 'ABOVE_NORMAL'

    def before_train(self, runner: Runner) -> None:
        """Check that the schedules last as long as the training, resumed or not."""
        check_cycles(flat_schedules(runner.param_schedulers), _run_length(runner))

    def before_save_checkpoint(self, runner: Runner, checkpoint: dict[str, Any]) -> None:
        """Note the size of a batch and the optimizer."""
        checkpoint['meta'][_RECORD] = asdict(_batch(runner))
        checkpoint['meta'][_KIND] = _kind(runner.optim_wrapper)

    def after_load_checkpoint(self, runner: Runner, checkpoint: dict[str, Any]) -> None:
        """Compare, where training is resumed and not only starts from weights."""
        if not runner._resume:
            return
        check_state(checkpoint)
        finished = finished_sentence(runner, checkpoint)
        for warning in [finished] if finished else resume_warnings(runner, checkpoint):
            runner.logger.warning(f'{warning}.')


def check_state(checkpoint: Mapping[str, Any]) -> None:
    """Check that a checkpoint holds what MMEngine resumes a training from.

    Raises:
        ValueError: If a part is missing or of another kind.
    """
    meta, hub = checkpoint.get('meta'), checkpoint.get('message_hub')
    counts = [meta.get(unit) for unit in ('epoch', 'iter')] if isinstance(meta, Mapping) else []
    if not (
        counts and all(isinstance(count, int) for count in counts) and isinstance(hub, Mapping)
    ):
        raise ValueError(
            'the checkpoint has weights but not the state of a training, so that none can be '
            'resumed from it; start a new run from its weights: --cfg-options '
            'load_from=CHECKPOINT, no --resume.'
        )


def finished_sentence(runner: Runner, checkpoint: Mapping[str, Any]) -> str:
    """Say that nothing is left to train, if so; otherwise return an empty string."""
    for kind, unit in ((EpochBasedTrainLoop, 'epoch'), (IterBasedTrainLoop, 'iter')):
        done, planned = checkpoint['meta'][unit], getattr(runner, f'max_{unit}s')
        if isinstance(runner.train_loop, kind) and done >= planned:
            word = {'epoch': 'epoch', 'iter': 'iteration'}[unit]
            return (
                f'the training is finished: the checkpoint is of {word} {done} of {planned}; to '
                f'train on, raise the number: --cfg-options train_cfg.max_{unit}s='
                f'{done + max(1, done // 10)}'
            )
    return ''


def resume_warnings(runner: Runner, checkpoint: Mapping[str, Any]) -> Iterator[str]:
    """List the differences, as sentences without a full stop; see also :func:`check_state`.

    Raises:
        ValueError: If the optimizer cannot go on from the state in the checkpoint.
    """
    noted_kind = checkpoint['meta'].get(_KIND)
    yield from optimizer_warnings(runner.optim_wrapper, checkpoint.get('optimizer'), noted_kind)
    if 'ema_state_dict' in checkpoint and not _averages(runner):
        yield (
            'the run that wrote the checkpoint had EMAHook, which the config lacks: training goes '
            f'on from the averaged weights instead of those that were trained; {WAY_OUT}'
        )
    now = _run_length(runner)
    before = _length(checkpoint) or now
    by_epochs = isinstance(runner.train_loop, EpochBasedTrainLoop)
    lengths = tuple(run.iters // run.epochs if by_epochs else 1 for run in (before, now))
    if by_epochs and _in_an_epoch(checkpoint):
        yield (
            f'the checkpoint is of iteration {checkpoint["meta"]["iter"]}, before the end of an '
            'epoch, which MMEngine starts again: what it has trained of it is trained twice; let '
            'checkpoints be written after epochs, default_hooks.checkpoint.by_epoch=True, and '
            'resume from one of them'
        )
    stored = [
        state
        for state in flat_schedules(checkpoint.get('param_schedulers'))
        if isinstance(state, Mapping)
    ]
    current = list(flat_schedules(runner.param_schedulers))
    bent = [
        type(new).__name__
        for old, new in zip(stored, current, strict=False)
        if not new.by_epoch and is_unfinished(old, new)
    ]
    noted = read_batch(checkpoint['meta'].get(_RECORD))
    yield from batch_warnings(noted, _batch(runner), lengths[0], lengths[1], bent)
    same_epoch = lengths[0] == lengths[1]
    yield from schedule_warnings(stored, current, before, now, same_epoch=same_epoch)


def _batch(runner: Runner) -> Batch:
    accumulation = getattr(runner.optim_wrapper, '_accumulative_counts', 1)
    return Batch(runner.train_dataloader.batch_size or 0, dist.get_world_size(), accumulation)


def _in_an_epoch(checkpoint: Mapping[str, Any]) -> bool:
    """Tell whether the epoch under way is one that the checkpoint does not count as done."""
    info = checkpoint['message_hub'].get('runtime_info') or {}
    return checkpoint['meta']['epoch'] == info.get('epoch')


def _averages(runner: Runner) -> bool:
    return any(isinstance(hook, EMAHook) for hook in runner.hooks)


def _run_length(runner: Runner) -> RunLength:
    return RunLength(runner.max_epochs, runner.max_iters)


def _length(checkpoint: Mapping[str, Any]) -> RunLength | None:
    """Length of the run that wrote a checkpoint, if MMEngine did."""
    info = checkpoint['message_hub'].get('runtime_info') or {}
    numbers: list[Any] = [info.get(f'max_{unit}') for unit in ('epochs', 'iters')]
    if not all(isinstance(number, int) and number > 0 for number in numbers):
        return None
    return RunLength(*numbers)


def _kind(wrapper: Any) -> Any:
    """Name the class of an optimizer, or of each of several."""
    if isinstance(wrapper, OptimWrapperDict):
        return {name: _kind(part) for name, part in wrapper.items()}
    return type(wrapper.optimizer).__name__


def optimizer_warnings(wrapper: Any, state: Any, noted: Any) -> Iterator[str]:
    """List what of the optimizer, or of several, differs, as sentences without a full stop.

    Args:
        wrapper: MMEngine's wrapper of the optimizer, or of several.
        state: Their state in the checkpoint.
        noted: What the checkpoint says of their classes, if anything.

    Raises:
        ValueError: If an optimizer cannot go on from its state.
    """
    several = isinstance(wrapper, OptimWrapperDict)
    if not isinstance(state, Mapping) or not (several or 'param_groups' in state):
        yield (
            'the checkpoint has no state of the optimizer (save_optimizer=False of the checkpoint '
            'hook, for example): momentum starts at nothing, and the learning rate at that of the '
            'config instead of what its schedule had reached; resume from a checkpoint that has '
            f'it, or {NEW_RUN}'
        )
        return
    if several:
        for name, part in wrapper.items():
            was = noted.get(name) if isinstance(noted, Mapping) else None
            yield from optimizer_warnings(part, state.get(name), was)
        return
    stored, current = state['param_groups'], wrapper.optimizer.param_groups
    check_groups(stored, current, wrapper.optimizer.defaults)
    check_first_step(wrapper.optimizer, state)
    was = changed_kind(noted, kind := _kind(wrapper), stored, current)
    if was:
        yield (
            f'the optimizer is {kind} by the config and was {was} when the checkpoint was '
            f'written: it goes on from a state that is not its own; {WAY_OUT}'
        )
    changed = changed_settings(stored, current, wrapper.optimizer.defaults)
    if changed:
        yield (
            f'the optimizer would have {", ".join(changed)} by the config: the values of the '
            f'checkpoint stay in force, and those of the config are ignored; {WAY_OUT}'
        )
