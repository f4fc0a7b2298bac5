"""Jobs on small pictures, each to be run by both runners."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from mmengine.config import Config

from tests.tiny_job import load_job, write_job

FAST = 'SmallImageRunner'


def fixed_pipeline(cfg: Config) -> Config:
    """Take the random transforms away: then both runners have to do exactly the same."""
    pipeline = cfg.train_dataloader.dataset.pipeline
    cfg.train_dataloader.dataset.pipeline = [pipeline[0], pipeline[-1]]
    return cfg


def read_job(folder: Path, work_dir: Path, fast: bool, **options: Any) -> Config:
    """Write pictures and read the config of a job of three steps an epoch."""
    config = folder / 'tiny.py'
    if not config.exists():
        write_job(folder)
    # MMEngine keeps logs and histories of one process under this name.
    name = uuid.uuid4().hex
    cfg = load_job(config, work_dir, log_level='ERROR', experiment_name=name, **options)
    if fast:
        cfg.runner_type = FAST
    return cfg
