"""``timed``: train a config within so many minutes, with the epochs that fit."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

import torch
from mmengine.config import Config

from mmshufflemix.benchmark.timed_training import train_within
from mmshufflemix.files import check_folder
from mmshufflemix.option_types import add_cfg_options, number, whole_number
from mmshufflemix.prepare import read_config
from mmshufflemix.reproduce.settings import total_epochs

__all__ = ['add_command', 'without_amp']


def add_command(commands: argparse._SubParsersAction) -> None:
    """Add the command to the tool's parser."""
    parser = commands.add_parser(
        'timed', help='train a config within so many minutes, its schedule shortened if needed'
    )
    parser.add_argument('config', help='config file, trained by epochs')
    parser.add_argument(
        '--minutes', type=number(0.01, 10000), required=True, help='for trial and training'
    )
    parser.add_argument('--work-dir', type=Path, required=True, help='for logs and checkpoints')
    parser.add_argument(
        '--epochs', type=whole_number(1, 10**6), help='train so many, without a trial'
    )
    add_cfg_options(parser, 'change settings')
    parser.set_defaults(run=partial(run, parser))


def run(parser: argparse.ArgumentParser, args: argparse.Namespace) -> dict[str, Any]:
    """Train and print the accuracy by epoch."""
    check_folder(args.work_dir, '--work-dir')
    cfg = read_config(args.config, args.cfg_options)
    full = total_epochs(cfg, args.config)
    if (args.epochs or 0) > full:
        parser.error(
            f'argument --epochs: must be at most {full}, the epochs of the config, '
            f'got {args.epochs}'
        )
    if not torch.cuda.is_available():
        cfg = without_amp(cfg)
    # The tool writes these into its JSON, which knows no paths.
    folder, args.work_dir = args.work_dir, str(args.work_dir)
    result = train_within(cfg, 60 * args.minutes, folder, args.epochs)
    for epoch, measures in result['accuracy'].items():
        print(f'epoch {epoch:>4s}: ' + ', '.join(f'{k} {v:.2f}' for k, v in measures.items()))
    print(
        f'{result["epochs"]} of {result["of_epochs"]} epochs'
        f'{" (SHORTENED: not the result of the recipe)" if result["shortened"] else ""} in '
        f'{result["training_seconds"] / 60:.1f} minutes, {result["epoch_seconds"]:.2f} s an epoch'
    )
    return {'timed': result}


def without_amp(cfg: Config) -> Config:
    """Replace mixed precision, which MMEngine refuses without a GPU, by float32, and say so."""
    wrapper = cfg.optim_wrapper
    if wrapper.get('type') == 'AmpOptimWrapper':
        print('no GPU: training in float32 instead of mixed precision')
        for key in ('type', 'dtype', 'loss_scale'):
            wrapper.pop(key, None)
    return cfg
