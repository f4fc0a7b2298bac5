"""Jobs on small pictures, each to be run by both runners."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from mmengine.config import Config

from tests.tiny_job import load_job, write_job, write_plain_job

FAST = 'SmallImageRunner'


def fixed_pipeline(cfg: Config) -> Config:
    """Take the random transforms away: then both runners have to do exactly the same."""
    pipeline = cfg.train_dataloader.dataset.pipeline
    cfg.train_dataloader.dataset.pipeline = [pipeline[0], pipeline[-1]]
    return cfg


def read_job(folder: Path, work_dir: Path, fast: bool = False, **options: Any) -> Config:
    """Write pictures and read the config of a job of three steps an epoch."""
    config = folder / 'tiny.py'
    if not config.exists():
        write_job(folder)
    cfg = _load(config, work_dir, **options)
    if fast:
        cfg.runner_type = FAST
    return cfg


def read_foreign_job(folder: Path, work_dir: Path, **options: Any) -> Config:
    """Like :func:`read_job`, for the fast path, with MMEngine's hooks only."""
    config = folder / 'tiny.py'
    if not config.exists():
        write_plain_job(folder)
    return _load(config, work_dir, **{'runner_type': FAST, **options})


def _load(config: Path, work_dir: Path, **options: Any) -> Config:
    # MMEngine keeps logs and histories of one process under this name.
    name = uuid.uuid4().hex
    return load_job(config, work_dir, log_level='ERROR', experiment_name=name, **options)
