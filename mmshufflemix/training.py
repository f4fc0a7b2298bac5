"""Train by a config, with the checks that a training deserves."""

from __future__ import annotations

from mmengine.config import Config

from mmshufflemix.hooks.class_check_hook import ClassCheckHook
from mmshufflemix.hooks.pos_weight_hook import PosWeightHook
from mmshufflemix.hooks.resume_check_hook import ResumeCheckHook
from mmshufflemix.hooks.train_check_hook import TrainCheckHook, check_batches
from mmshufflemix.interrupt import stoppable
from mmshufflemix.launch import build_runner, with_download_hint

__all__ = ['run_training']


def run_training(cfg: Config) -> None:
    """Build the runner of a config, with hooks that check data, model and checkpoint, and train.

    Raises:
        ValueError: If something does not fit together, in one sentence.
        KeyboardInterrupt: If Ctrl-C was pressed, with a sentence on how to go on.
    """
    with stoppable(cfg.work_dir) as stop_hook:
        runner = build_runner(cfg)
        runner.register_hook(stop_hook)
        runner.register_hook(TrainCheckHook())
        runner.register_hook(PosWeightHook())
        if cfg.get('resume'):
            runner.register_hook(ClassCheckHook('train'))
        runner.register_hook(ResumeCheckHook())

        def train() -> None:
            # Schedules that count iterations fail without any, before hooks are called.
            check_batches(runner.train_dataloader)
            runner.train()

        with_download_hint(train, cfg)
