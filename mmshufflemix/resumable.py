"""Give a training the hooks that make a resumed run equal one without the stop."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from mmengine.config import Config, ConfigDict
from mmengine.hooks import CheckpointHook, Hook
from mmengine.logging import print_log
from mmpretrain.registry import HOOKS

from mmshufflemix.hooks import BroadcastBuffersHook, EpochSeedHook, ScheduleResumeHook
from mmshufflemix.prepare import lookup

__all__ = ['make_resumable']

_HOOKS = (EpochSeedHook, ScheduleResumeHook, BroadcastBuffersHook)


def make_resumable(cfg: Config) -> Config:
    """Add ``EpochSeedHook``, ``ScheduleResumeHook`` and ``BroadcastBuffersHook`` where missing.

    MMEngine's ``CheckpointHook`` among the default hooks, also where the config leaves it to
    MMEngine, becomes ``SafeCheckpointHook`` unless it writes to another storage than local disks.
    What is changed is logged.

    Returns:
        A copy of the config, which imports this package if it has a hook of it.
    """
    cfg = deepcopy(cfg)
    custom = list(cfg.get('custom_hooks') or [])
    present = [_class_of(hook) for hook in custom]
    added = [
        hook.__name__ for hook in _HOOKS if not any(issubclass(other, hook) for other in present)
    ]
    cfg.custom_hooks = custom + [ConfigDict(type=f'mmpretrain.{name}') for name in added]
    default = dict(cfg.get('default_hooks') or {})
    checkpoint = default.get('checkpoint', dict(type='CheckpointHook', interval=1))
    if _is_plain(checkpoint):
        default['checkpoint'] = ConfigDict({**checkpoint, 'type': 'mmpretrain.SafeCheckpointHook'})
        cfg.default_hooks = ConfigDict(default)
        added.append('SafeCheckpointHook')
    if added:
        _import_package(cfg)
        print_log(
            f'{", ".join(added)} added, so that a resumed run equals one without the stop.',
            logger='current',
        )
    return cfg


def _class_of(hook: Any) -> type:
    found = lookup(HOOKS, hook.get('type')) if isinstance(hook, dict) else type(hook)
    return found if isinstance(found, type) else Hook


def _is_plain(checkpoint: Any) -> bool:
    """Tell whether this is MMEngine's own hook, writing to local disks."""
    return (
        isinstance(checkpoint, dict)
        and _class_of(checkpoint) is CheckpointHook
        and not checkpoint.get('backend_args')
        and not checkpoint.get('file_client_args')
        and '://' not in str(checkpoint.get('out_dir'))
    )


def _import_package(cfg: Config) -> None:
    """Let the config that is written to the work folder be used by other tools, too."""
    custom = cfg.get('custom_imports') or dict(imports=[], allow_failed_imports=False)
    imports = custom['imports']
    imports = [imports] if isinstance(imports, str) else list(imports)
    if 'mmshufflemix' not in imports:
        cfg.custom_imports = ConfigDict({**custom, 'imports': [*imports, 'mmshufflemix']})
