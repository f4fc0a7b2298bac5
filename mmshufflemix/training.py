"""Train by a config, with the checks that a training deserves."""

from __future__ import annotations

import argparse
from pathlib import Path

from mmengine.config import Config

from mmshufflemix.checkpoint import latest_checkpoint
from mmshufflemix.first_process import check_launched, is_first_process
from mmshufflemix.hooks.class_check_hook import ClassCheckHook
from mmshufflemix.hooks.pos_weight_hook import PosWeightHook
from mmshufflemix.hooks.resume_check_hook import ResumeCheckHook
from mmshufflemix.hooks.train_check_hook import TrainCheckHook, check_batches
from mmshufflemix.interrupt import stoppable
from mmshufflemix.launch import (
    build_runner,
    check_work_dir,
    set_loader_defaults,
    set_work_dir,
    with_download_hint,
)
from mmshufflemix.option_names import merge_options
from mmshufflemix.prepare import drop_pretrained
from mmshufflemix.setting_kinds import check_kinds

__all__ = ['earlier_run', 'merge_train_args', 'run_training']


def merge_train_args(cfg: Config, args: argparse.Namespace) -> Config:
    """Write the arguments of tools/train.py into the config, in place.

    Raises:
        ValueError: If the config lacks what an argument needs, or has settings of a wrong kind.
    """
    cfg.launcher = args.launcher
    set_work_dir(cfg, args)
    if args.no_validate:
        cfg.val_cfg = cfg.val_dataloader = cfg.val_evaluator = None
    if args.amp:
        cfg.optim_wrapper.type = 'AmpOptimWrapper'
        cfg.optim_wrapper.setdefault('loss_scale', 'dynamic')
    if args.auto_scale_lr:
        if 'base_batch_size' not in (cfg.get('auto_scale_lr') or {}):
            raise ValueError(
                '--auto-scale-lr needs auto_scale_lr=dict(base_batch_size=...) in the config, '
                'the batch size for which its learning rate was chosen.'
            )
        cfg.auto_scale_lr.enable = True
    merge_options(cfg, args.cfg_options)
    check_work_dir(cfg)
    check_kinds(cfg)
    check_launched(cfg.launcher)
    for name in ('train_dataloader', 'val_dataloader', 'test_dataloader'):
        set_loader_defaults(
            cfg,
            name,
            pin_memory=not args.no_pin_memory,
            persistent_workers=not args.no_persistent_workers,
        )
    if args.resume is not None:
        _set_resume(cfg, args.resume)
    return cfg


def run_training(cfg: Config) -> None:
    """Build the runner of a config, with hooks that check data, model and checkpoint, and train.

    Raises:
        ValueError: If something does not fit together, in one sentence.
        KeyboardInterrupt: If Ctrl-C was pressed, with a sentence on how to go on.
    """
    with stoppable(cfg.work_dir) as stop_hook:
        earlier = '' if cfg.get('resume') else earlier_run(cfg.work_dir)
        runner = build_runner(cfg)
        if earlier:
            runner.logger.warning(earlier)
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


def earlier_run(work_dir: str) -> str:
    """Say what a training from the beginning does to checkpoints in its work folder, if any."""
    newest = latest_checkpoint(work_dir)
    if newest is None or newest.resolve().parent != Path(work_dir).resolve():
        return ''
    return (
        f"'{work_dir}' has checkpoints of an earlier run (newest {newest.name}): this run starts "
        'from the beginning and writes over them; --resume goes on from it, another --work-dir '
        'keeps them.'
    )


def _set_resume(cfg: Config, resume: str) -> None:
    """Point the config at the checkpoint to go on from.

    Raises:
        ValueError: If the name is empty, as that of a variable of the shell that is not set.
    """
    if not resume:
        raise ValueError('--resume got an empty name; give it a checkpoint, or nothing behind it.')
    if resume == 'auto':
        newest = latest_checkpoint(cfg.work_dir)
        if newest is None and is_first_process(cfg.launcher):
            print(f"nothing to resume in '{cfg.work_dir}': training starts from the beginning")
        resume = str(newest) if newest else ''
    cfg.resume = bool(resume)
    cfg.load_from = resume or None
    if cfg.get('resume'):
        drop_pretrained(cfg.get('model'))
