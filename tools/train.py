"""Train a model from a config, with the hooks that make a resumed run equal one without the stop.

Hooks for this that the config lacks are added and logged.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from mmshufflemix.checkpoint import latest_checkpoint
from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.launch import add_run_options, set_loader_defaults, set_work_dir
from mmshufflemix.option_names import merge_options
from mmshufflemix.prepare import (
    check_amp,
    check_local_file,
    check_optimizer,
    drop_pretrained,
    prepare_config,
    read_config,
)
from mmshufflemix.resumable import make_resumable
from mmshufflemix.training import run_training

if TYPE_CHECKING:
    from mmengine.config import Config


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument('config', help='config file')
    parser.add_argument(
        '--resume',
        nargs='?',
        const='auto',
        metavar='CHECKPOINT',
        help='go on from a checkpoint; without a path, from the newest one of the work folder',
    )
    parser.add_argument('--amp', action='store_true', help='mixed precision (needs a GPU)')
    parser.add_argument('--no-validate', action='store_true', help='do not validate')
    parser.add_argument(
        '--auto-scale-lr',
        action='store_true',
        help='scale the learning rate by the batch size really used',
    )
    parser.add_argument(
        '--no-persistent-workers',
        action='store_true',
        help='switch persistent_workers off in all loaders',
    )
    add_run_options(parser)
    return parser.parse_args()


def merge_args(cfg: Config, args: argparse.Namespace) -> Config:
    """Write the arguments into the config."""
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
    for name in ('train_dataloader', 'val_dataloader', 'test_dataloader'):
        set_loader_defaults(
            cfg,
            name,
            pin_memory=not args.no_pin_memory,
            persistent_workers=not args.no_persistent_workers,
        )
    if args.resume is not None:
        set_resume(cfg, args.resume)
    return cfg


def set_resume(cfg: Config, resume: str) -> None:
    """Point the config at the checkpoint to go on from."""
    if resume == 'auto':
        newest = latest_checkpoint(cfg.work_dir)
        if newest is None:
            print(f"nothing to resume in '{cfg.work_dir}': training starts from the beginning")
        resume = str(newest) if newest else ''
    cfg.resume = bool(resume)
    cfg.load_from = resume or None
    if cfg.get('resume'):
        drop_pretrained(cfg.get('model'))


def main() -> None:
    args = parse_args()
    os.environ.setdefault('LOCAL_RANK', str(args.local_rank))
    cfg = make_resumable(prepare_config(merge_args(read_config(args.config), args)))
    check_optimizer(cfg)
    check_amp(cfg)
    check_local_file(cfg.get('load_from'), 'checkpoint')
    run_training(cfg)


if __name__ == '__main__':
    run_cli(main)
