"""Save checkpoints so that a kill at any moment leaves a run that can be resumed."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
from mmengine.dist import is_main_process
from mmengine.fileio import LocalBackend, register_backend
from mmengine.hooks import CheckpointHook
from mmengine.runner import Runner
from mmpretrain.registry import HOOKS

from mmshufflemix.files import remove_leftovers, write_bytes, write_text
from mmshufflemix.near_names import unknown_arguments

__all__ = ['SafeCheckpointHook']


class AtomicBackend(LocalBackend):
    """MMEngine's local files, written under a temporary name and then moved."""

    def put(self, obj: bytes, filepath: str | Path) -> None:
        """Write bytes."""
        write_bytes(filepath, obj)

    def put_text(self, obj: str, filepath: str | Path, encoding: str = 'utf-8') -> None:
        """Write text."""
        write_bytes(filepath, obj.encode(encoding))


class DelayedRemoval(AtomicBackend):
    """Keeps the files it is told to remove until :meth:`flush`."""

    def __init__(self) -> None:
        self._doomed: list[Path] = []

    def remove(self, filepath: str | Path) -> None:
        """Note a file for removal."""
        self._doomed.append(Path(filepath))

    def flush(self, keep: set[Path]) -> None:
        """Remove the noted files, except those in ``keep``."""
        for path in self._doomed:
            if path not in keep:
                path.unlink(missing_ok=True)
        self._doomed.clear()


register_backend('atomic', AtomicBackend)


@HOOKS.register_module()
class SafeCheckpointHook(CheckpointHook):
    """MMEngine's ``CheckpointHook`` for local disks, made safe against a kill at any moment.

    Files appear complete or not at all, ``last_checkpoint`` included, and an old checkpoint
    (``max_keep_ckpts``, the previous best one) is removed only after the new one is on the disk.
    At most one checkpoint interval is lost. Arguments are those of ``CheckpointHook`` without the
    ones that choose another storage.
    """

    def __init__(self, **kwargs: Any) -> None:
        for name in ('backend_args', 'file_client_args'):
            if kwargs.get(name) is not None:
                raise ValueError(
                    f'SafeCheckpointHook writes to local disks and got {name}={kwargs[name]!r}; '
                    'use CheckpointHook for another storage.'
                )
        # CheckpointHook takes any, and fails by them when the first checkpoint is due.
        known = set(inspect.signature(CheckpointHook).parameters) - {'kwargs'}
        if unknown := set(kwargs) - known:
            raise TypeError(unknown_arguments('SafeCheckpointHook', unknown, known))
        kwargs.update(backend_args={'backend': 'atomic'}, file_client_args=None)
        super().__init__(**kwargs)

    def before_train(self, runner: Runner) -> None:
        """Set up the folder and clear what a killed run left half written."""
        super().before_train(runner)
        self.file_backend = DelayedRemoval()
        if is_main_process():
            remove_leftovers(self.out_dir)
            remove_leftovers(runner.work_dir)

    def _save_checkpoint_with_step(self, runner: Runner, step: int, meta: dict[str, Any]) -> None:
        """Save one checkpoint, then name it the last one, then remove the outdated."""
        name = self.filename_tmpl.format(step)
        self.last_ckpt = str(Path(self.out_dir) / name)
        outdated = self._rotate(runner, step)
        runner.message_hub.update_info('last_ckpt', self.last_ckpt)
        runner.save_checkpoint(
            self.out_dir,
            name,
            save_optimizer=self.save_optimizer,
            save_param_scheduler=self.save_param_scheduler,
            meta=meta,
            by_epoch=self.by_epoch,
            backend_args=self.backend_args,
            **self.args,
        )
        if is_main_process():
            write_text(Path(runner.work_dir) / 'last_checkpoint', self.last_ckpt)
            for number in outdated:
                self.file_backend.remove(Path(self.out_dir) / self.filename_tmpl.format(number))
            self.file_backend.flush(keep=self._wanted_files())

    def _rotate(self, runner: Runner, step: int) -> list[int]:
        """Note ``step`` among the kept checkpoints and return those that fall out."""
        if self.max_keep_ckpts <= 0:
            return []
        kept = [number for number in self.keep_ckpt_ids if number != step] + [step]
        outdated = kept[: -self.max_keep_ckpts]
        self.keep_ckpt_ids.clear()
        self.keep_ckpt_ids.extend(kept[-self.max_keep_ckpts :])
        runner.message_hub.update_info('keep_ckpt_ids', list(self.keep_ckpt_ids))
        return outdated

    def _save_best_checkpoint(self, runner: Runner, metrics: dict[str, Any]) -> None:
        """Save the best checkpoint; the base class's removals wait until both files are written.

        Raises:
            ValueError: If validation gave no such key, for example of a class without a positive,
                or something else than one number for it.
        """
        unknown = [key for key in self.save_best or () if key not in (*metrics, 'auto')]
        if unknown:
            raise ValueError(
                f'save_best names {unknown[0]!r}, which validation does not give; choose one of: '
                f'{", ".join(metrics)}.'
            )
        for key in self.save_best or ():
            name = next(iter(metrics)) if key == 'auto' else key
            if np.ndim(metrics[name]):
                numbers = [other for other, value in metrics.items() if not np.ndim(value)]
                raise ValueError(
                    f'save_best={key!r} means {name!r}, which is a list and no number; choose one '
                    f'of: {", ".join(numbers)}.'
                )
        super()._save_best_checkpoint(runner, metrics)
        self.file_backend.flush(keep=self._wanted_files())

    def _wanted_files(self) -> set[Path]:
        best = [getattr(self, 'best_ckpt_path', None)]
        best += getattr(self, 'best_ckpt_path_dict', {}).values()
        return {Path(path) for path in [self.last_ckpt, *best] if path}
