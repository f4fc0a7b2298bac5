"""Test a checkpoint with the test set of a config, or with its validation set."""

from __future__ import annotations

import argparse
import os
from copy import deepcopy

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.evaluation.dump_predictions import (
    DumpPredictions,
    check_results_file,
    write_results,
)
from mmshufflemix.files import check_writable
from mmshufflemix.hooks.class_check_hook import ClassCheckHook
from mmshufflemix.launch import (
    add_run_options,
    build_runner,
    set_loader_defaults,
    set_work_dir,
    with_download_hint,
)
from mmshufflemix.prepare import (
    check_local_file,
    head_class,
    lookup,
    prepare_config,
    read_config,
)
from mmshufflemix.small_images import SmallImageRunner

from mmengine import dist
from mmengine.config import Config, ConfigDict
from mmengine.registry import RUNNERS
from mmpretrain.models import AverageClsScoreTTA
from mmpretrain.models.heads import MultiLabelClsHead
from mmpretrain.registry import MODELS


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument('config', help='config file')
    parser.add_argument('checkpoint', help='checkpoint file')
    parser.add_argument(
        '--split',
        choices=['test', 'val'],
        default='test',
        help="what to test on: the config's test_dataloader and test_evaluator (default), or its "
        'val_dataloader and val_evaluator',
    )
    parser.add_argument('--out', metavar='FILE', help='write the results to a .json (or .pkl) file')
    parser.add_argument(
        '--out-item',
        choices=['metrics', 'pred'],
        help='what to write to --out: the metrics, or a record per image (default)',
    )
    parser.add_argument('--amp', action='store_true', help='mixed precision')
    parser.add_argument('--show-dir', help='folder for pictures with their predictions')
    parser.add_argument('--show', action='store_true', help='show the pictures in a window')
    parser.add_argument(
        '--interval', type=int, default=1, help='draw every n-th picture only (default 1)'
    )
    parser.add_argument(
        '--wait-time', type=float, default=2, help='seconds a window stays open (default 2)'
    )
    parser.add_argument(
        '--tta',
        action='store_true',
        help="test-time augmentation by the config's tta_model and tta_pipeline, else by mirroring",
    )
    add_run_options(parser)
    args = parser.parse_args()
    if args.out_item is not None and args.out is None:
        parser.error('--out-item needs --out')
    if args.tta and (args.show or args.show_dir is not None):
        parser.error('--tta cannot be drawn: leave --show and --show-dir out')
    return args


def merge_args(cfg: Config, args: argparse.Namespace) -> Config:
    """Write the arguments into the config."""
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
        add_tta(cfg)
    set_loader_defaults(
        cfg, 'test_dataloader', pin_memory=not args.no_pin_memory, persistent_workers=False
    )
    return cfg


def use_validation_set(cfg: Config, name: str) -> None:
    """Put the validation set and its metrics in the place of those of the test."""
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
    """Switch the drawing hook on."""
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


def add_tta(cfg: Config) -> None:
    """Wrap model and pipeline for test-time augmentation, which the ordinary runner does."""
    if lookup(RUNNERS, cfg.get('runner_type')) is SmallImageRunner:
        cfg.pop('runner_type')
    pipeline = cfg.test_dataloader.dataset.get('pipeline')
    if not pipeline:
        raise ValueError(
            f'--tta needs a pipeline in test_dataloader.dataset, and '
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


def main() -> None:
    args = parse_args()
    os.environ.setdefault('LOCAL_RANK', str(args.local_rank))
    if args.out:
        check_results_file(args.out)
        check_writable(args.out)
    check_local_file(args.checkpoint, 'checkpoint')
    # Repaired before the arguments: with test-time augmentation the model moves inside another.
    cfg = merge_args(prepare_config(read_config(args.config, args.cfg_options)), args)
    runner = build_runner(cfg)
    runner.register_hook(ClassCheckHook(args.split))
    if args.out and args.out_item != 'metrics':
        runner.test_evaluator.metrics.append(DumpPredictions(args.out))
    metrics = with_download_hint(runner.test, cfg)
    if args.out and args.out_item == 'metrics' and dist.is_main_process():
        write_results(args.out, metrics)


if __name__ == '__main__':
    run_cli(main)
