"""The hooks that a config lacks for a resume without a trace."""

from __future__ import annotations

from typing import Any

import pytest
from mmengine.config import Config
from mmengine.hooks import CheckpointHook

from mmshufflemix.hooks import EpochSeedHook
from mmshufflemix.resumable import make_resumable
from tests.tiny_job import ROOT

ADDED = ['EpochSeedHook', 'ScheduleResumeHook', 'BroadcastBuffersHook']


def hook_names(cfg: Config) -> list[str]:
    return [hook['type'].split('.')[-1] for hook in cfg.custom_hooks]


def test_a_config_without_hooks() -> None:
    plain = Config(dict(custom_imports=dict(imports='somewhere', allow_failed_imports=True)))
    cfg = make_resumable(plain)
    assert hook_names(cfg) == ADDED
    assert dict(cfg.default_hooks.checkpoint) == dict(
        type='mmpretrain.SafeCheckpointHook', interval=1
    )
    assert cfg.custom_imports == dict(
        imports=['somewhere', 'mmshufflemix'], allow_failed_imports=True
    )
    assert 'custom_hooks' not in plain
    assert make_resumable(cfg).to_dict() == cfg.to_dict()


def test_the_shipped_settings_stay() -> None:
    shipped = Config.fromfile(ROOT / 'configs' / '_base_' / 'default_runtime.py')
    assert make_resumable(shipped).to_dict() == shipped.to_dict()


def test_what_is_there_is_kept() -> None:
    class Own(EpochSeedHook):
        pass

    own, ema = Own(), dict(type='EMAHook')
    checkpoint = dict(type=CheckpointHook, interval=3, save_best='auto')
    hooks = dict(logger=dict(type='LoggerHook', interval=7), checkpoint=checkpoint)
    cfg = make_resumable(Config(dict(custom_hooks=[own, ema], default_hooks=hooks)))
    assert isinstance(cfg.custom_hooks[0], Own)
    assert [hook['type'].split('.')[-1] for hook in cfg.custom_hooks[1:]] == ['EMAHook', *ADDED[1:]]
    assert cfg.default_hooks.logger.interval == 7
    assert cfg.default_hooks.checkpoint == {**checkpoint, 'type': 'mmpretrain.SafeCheckpointHook'}


@pytest.mark.parametrize(
    'checkpoint',
    [
        None,
        dict(type='CheckpointHook', backend_args=dict(backend='petrel')),
        dict(type='CheckpointHook', file_client_args=dict(backend='petrel')),
        dict(type='CheckpointHook', out_dir='s3://bucket/run'),
        dict(type='NoSuchHook'),
    ],
)
def test_checkpoints_for_another_storage_stay(checkpoint: Any) -> None:
    cfg = make_resumable(Config(dict(default_hooks=dict(checkpoint=checkpoint))))
    assert cfg.default_hooks.checkpoint == checkpoint
