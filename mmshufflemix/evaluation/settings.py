"""Turn the config of a training into one that tools/test.py runs."""

from __future__ import annotations

import argparse
from copy import deepcopy

from mmengine.config import Config, ConfigDict
from mmengine.registry import RUNNERS
from mmpretrain.models import AverageClsScoreTTA
from mmpretrain.models.heads import MultiLabelClsHead
from mmpretrain.registry import MODELS

from mmshufflemix.launch import set_loader_defaults, set_work_dir
from mmshufflemix.prepare import head_class, lookup
from mmshufflemix.small_images import SmallImageRunner

__all__ = ['add_tta', 'draw_pictures', 'merge_test_args', 'use_validation_set']


def merge_test_args(cfg: Config, args: argparse.Namespace) -> Config:
    """Write the arguments of tools/test.py into the config, in place.

    Raises:
        ValueError: If the config lacks what an argument needs.
    """
    if args.split == 'val':
        use_validation_set(cfg, args.config)
    if cfg.get('test_dataloader') is None:
        raise ValueError(
            f"config '{args.config}' has no test_dataloader, so nothing can be tested."
        )
    cfg.launcher = args.launcher
    set_work_dir(cfg, args)
    cfg.load_from = args.checkpoint
    cfg.resume = False
    if args.amp:
        cfg.test_cfg.fp16 = True
    if args.show or args.show_dir is not None:
        draw_pictures(cfg, args)
    if args.tta:
        add_tta(cfg, args.split)
    set_loader_defaults(
        cfg, 'test_dataloader', pin_memory=not args.no_pin_memory, persistent_workers=False
    )
    return cfg


def use_validation_set(cfg: Config, name: str) -> None:
    """Put the validation set and its metrics in the place of those of the test.

    Args:
        cfg: Changed in place.
        name: The file, for messages.

    Raises:
        ValueError: If the config has none.
    """
    for key in ('val_dataloader', 'val_evaluator'):
        if cfg.get(key) is None:
            raise ValueError(
                f"config '{name}' has no {key}, which --split val needs; add it, or leave --split "
                'out to test on the test set.'
            )
    cfg.test_dataloader = deepcopy(cfg.val_dataloader)
    cfg.test_evaluator = deepcopy(cfg.val_evaluator)
    if cfg.get('test_cfg') is None:
        cfg.test_cfg = ConfigDict()


def draw_pictures(cfg: Config, args: argparse.Namespace) -> None:
    """Switch the drawing hook on, in place.

    Raises:
        ValueError: If the config has no such hook.
    """
    if 'visualization' not in cfg.get('default_hooks', {}):
        raise ValueError(
            '--show and --show-dir need default_hooks.visualization in the config; add '
            "default_hooks=dict(visualization=dict(type='VisualizationHook'))."
        )
    cfg.default_hooks.visualization.update(
        enable=True,
        show=args.show,
        wait_time=args.wait_time,
        out_dir=args.show_dir,
        interval=args.interval,
    )


def add_tta(cfg: Config, split: str) -> None:
    """Wrap model and pipeline for test-time augmentation, which the ordinary runner does.

    Args:
        cfg: Changed in place.
        split: Where the user wrote the data set that is tested: 'test' or 'val'.

    Raises:
        ValueError: If the data set has no pipeline.
    """
    if lookup(RUNNERS, cfg.get('runner_type')) is SmallImageRunner:
        cfg.pop('runner_type')
    pipeline = cfg.test_dataloader.dataset.get('pipeline')
    if not pipeline:
        raise ValueError(
            f'--tta needs a pipeline in {split}_dataloader.dataset, and '
            f'{cfg.test_dataloader.dataset.get("type")} has none; test the data set without a '
            'wrapper around it.'
        )
    if 'tta_model' not in cfg:
        cfg.tta_model = ConfigDict(type='mmpretrain.AverageClsScoreTTA')
    head = head_class(cfg)
    averages = lookup(MODELS, cfg.tta_model.type) is AverageClsScoreTTA
    if averages and head and issubclass(head, MultiLabelClsHead):
        cfg.tta_model.type = 'mmpretrain.MultiLabelTTA'
    if 'tta_pipeline' not in cfg:
        views = [dict(type='RandomFlip', prob=1.0), dict(type='RandomFlip', prob=0.0)]
        tta = dict(type='TestTimeAug', transforms=[views, [pipeline[-1]]])
        cfg.tta_pipeline = [*deepcopy(pipeline[:-1]), tta]
    cfg.model = ConfigDict(**cfg.tta_model, module=cfg.model)
    cfg.test_dataloader.dataset.pipeline = cfg.tta_pipeline
