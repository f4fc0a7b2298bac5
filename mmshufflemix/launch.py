"""What the tools for training and testing share: options, loader defaults, processes, runner."""

from __future__ import annotations

import argparse
import logging
import os
import subprocess
import urllib.error
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import torch
from mmengine.config import Config, ConfigDict
from mmengine.logging import MMLogger
from mmengine.registry import RUNNERS
from mmengine.runner import Runner
from torch import distributed

from mmshufflemix.config_dump import keep_own_config
from mmshufflemix.files import check_folder
from mmshufflemix.first_process import check_launched, is_first_process
from mmshufflemix.option_types import add_cfg_options
from mmshufflemix.prepare import download_hint

__all__ = [
    'add_run_options',
    'begin_process',
    'build_runner',
    'check_work_dir',
    'set_loader_defaults',
    'set_work_dir',
    'start_processes_on_cpu',
    'with_download_hint',
]

Result = TypeVar('Result')


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that training and testing have in common, named as in MMPretrain."""
    parser.add_argument('--work-dir', help='folder for logs, checkpoints and results')
    parser.add_argument(
        '--no-pin-memory', action='store_true', help='switch pin_memory off in all loaders'
    )
    add_cfg_options(
        parser,
        'change settings of the config, for example optim_wrapper.optimizer.lr=0.1 or '
        'key="[(a,b),(c,d)]" (quoted)',
    )
    parser.add_argument(
        '--launcher',
        choices=['none', 'pytorch', 'slurm', 'mpi'],
        default='none',
        help='what started the processes of this run',
    )
    parser.add_argument(
        '--local_rank', '--local-rank', type=int, default=0, help='set by the launcher'
    )


def begin_process(args: argparse.Namespace) -> None:
    """Tell this process its place on the machine, and let only the first of several log notes.

    Raises:
        ValueError: If the launcher has not started it.
    """
    check_launched(args.launcher)
    os.environ.setdefault('LOCAL_RANK', str(args.local_rank))
    if not is_first_process(args.launcher):
        # The runner makes another logger, which knows by itself.
        MMLogger.get_current_instance().setLevel(logging.ERROR)


def set_work_dir(cfg: Config, args: argparse.Namespace) -> None:
    """Choose the work folder: command line, else config, else ``work_dirs/<config name>``."""
    if args.work_dir is not None:
        # A shell leaves the ~ of --work-dir=~/runs as it is.
        cfg.work_dir = os.path.expanduser(args.work_dir)
    elif cfg.get('work_dir') is None:
        cfg.work_dir = str(Path('work_dirs') / Path(args.config).stem)


def check_work_dir(cfg: Config) -> None:
    """Check that the work folder is a name; ``--cfg-options`` reads 2024 as a number.

    Raises:
        ValueError: If it is something else.
    """
    if not isinstance(cfg.work_dir, str) or not cfg.work_dir:
        raise ValueError(
            f'work_dir must be the name of a folder, got {cfg.work_dir!r}; give it by --work-dir'
        )


def set_loader_defaults(
    cfg: Config, name: str, *, pin_memory: bool, persistent_workers: bool
) -> None:
    """Give one data loader of the config MMPretrain's defaults, pinned memory only with a GPU.

    Args:
        cfg: Changed in place.
        name: For example ``train_dataloader``; nothing happens if the config has none.
        pin_memory: False switches it off, also where the config has it on.
        persistent_workers: False switches them off, also where the config has them on.
    """
    if cfg.get(name) is None:
        return
    loader = ConfigDict(
        pin_memory=torch.cuda.is_available(),
        persistent_workers=cfg[name].get('num_workers', 0) > 0,
        collate_fn=dict(type='default_collate'),
    )
    loader.update(cfg[name])
    loader.pin_memory = loader.pin_memory and pin_memory
    loader.persistent_workers = loader.persistent_workers and persistent_workers
    cfg[name] = loader


def build_runner(cfg: Config) -> Runner:
    """Start the processes if needed, then build the runner that the config asks for.

    Raises:
        ValueError: If the work folder is no name, or takes no files.
    """
    if cfg.get('work_dir') is not None:
        check_work_dir(cfg)
        check_folder(cfg.work_dir, '--work-dir')
    start_processes_on_cpu(cfg)
    cfg = keep_own_config(cfg)
    return RUNNERS.build(cfg) if 'runner_type' in cfg else Runner.from_cfg(cfg)


def with_download_hint(run: Callable[[], Result], cfg: Config) -> Result:
    """Run something that may download data; say what to fetch by hand if it cannot.

    Raises:
        ConnectionError: Naming the data sets, their addresses and folders.
    """
    try:
        return run()
    except urllib.error.URLError as error:
        raise ConnectionError(
            f'a download failed ({error.reason}); fetch by hand: {download_hint(cfg)}.'
        ) from error


def start_processes_on_cpu(cfg: Config) -> None:
    """Join the processes of a launched run with gloo if no GPU is visible.

    Does nothing without a launcher, or with a GPU: MMEngine then starts nccl itself. Changes the
    config in place: the backend's name, and a model wrapper that names no device.
    """
    if cfg.get('launcher', 'none') not in ('pytorch', 'slurm') or torch.cuda.is_available():
        return
    if cfg.launcher == 'slurm':
        _read_slurm()
    cfg.setdefault('env_cfg', ConfigDict()).dist_cfg = ConfigDict(backend='gloo')
    wrapper = ConfigDict(
        type='MMDistributedDataParallel',
        broadcast_buffers=False,
        find_unused_parameters=cfg.get('find_unused_parameters', False),
    )
    wrapper.update(cfg.get('model_wrapper_cfg') or {})
    wrapper.device_ids = None
    cfg.model_wrapper_cfg = wrapper
    if not distributed.is_initialized():
        distributed.init_process_group('gloo')


def _read_slurm() -> None:
    """Translate what srun sets into what PyTorch reads."""
    if 'MASTER_ADDR' not in os.environ:
        command = ['scontrol', 'show', 'hostnames', os.environ['SLURM_NODELIST']]
        hosts = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        os.environ['MASTER_ADDR'] = hosts.split()[0]
    os.environ.setdefault('MASTER_PORT', '29500')
    os.environ['RANK'] = os.environ['SLURM_PROCID']
    os.environ['LOCAL_RANK'] = os.environ.get('SLURM_LOCALID', '0')
    os.environ['WORLD_SIZE'] = os.environ['SLURM_NTASKS']
