"""Test a checkpoint with the test set of a config, or with its validation set."""

from __future__ import annotations

import argparse

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.evaluation.dump_predictions import (
    DumpPredictions,
    check_results_file,
    write_results,
)
from mmshufflemix.evaluation.settings import merge_test_args
from mmshufflemix.files import check_writable
from mmshufflemix.hooks.class_check_hook import ClassCheckHook
from mmshufflemix.launch import add_run_options, begin_process, build_runner, with_download_hint
from mmshufflemix.prepare import check_local_file, prepare_config, read_config

from mmengine import dist


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


def main() -> None:
    args = parse_args()
    begin_process(args)
    if args.out:
        check_results_file(args.out)
        check_writable(args.out)
    check_local_file(args.checkpoint, 'checkpoint')
    # Repaired before the arguments: with test-time augmentation the model moves inside another.
    cfg = merge_test_args(prepare_config(read_config(args.config, args.cfg_options)), args)
    runner = build_runner(cfg)
    runner.register_hook(ClassCheckHook(args.split))
    if args.out and args.out_item != 'metrics':
        runner.test_evaluator.metrics.append(DumpPredictions(args.out))
    metrics = with_download_hint(runner.test, cfg)
    if args.out and args.out_item == 'metrics' and dist.is_main_process():
        write_results(args.out, metrics)


if __name__ == '__main__':
    run_cli(main)
