"""Measure a checkpoint on clean and on noisy test images of a config, or draw such studies."""

from __future__ import annotations

import argparse
from typing import Any

from mmshufflemix import __version__
from mmshufflemix.benchmark import describe_machine
from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.files import check_writable, write_json
from mmshufflemix.launch import set_loader_defaults, set_work_dir
from mmshufflemix.option_types import add_cfg_options
from mmshufflemix.pictures import check_picture_file
from mmshufflemix.prepare import prepare_config, read_config
from mmshufflemix.robustness import (
    CURVE_LEVELS,
    MODES,
    NOISES,
    PAPER_LEVELS,
    Study,
    curve_names,
    draw_robustness,
    format_table,
    measure_robustness,
    read_record,
)


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    add = parser.add_argument
    add('config', nargs='?', help='config file')
    add('checkpoint', nargs='?', help='checkpoint file')
    add('--noise', nargs='+', choices=NOISES, default=NOISES, help='which (default: both)')
    add('--levels', nargs='+', type=float, help="of every noise (default: the paper's of each)")
    add('--curve', action='store_true', help='add white noise of 0, 0.05, ..., 0.35')
    mode_help = 'channels that salt and pepper falls on: paper, the first (default), or all'
    add('--mode', nargs='+', choices=MODES, default=['paper'], help=mode_help)
    add('--seeds', nargs='+', type=int, default=[0, 1, 2, 3, 4], help='of noise (default: 0 to 4)')
    add('--metric', help="a number of the config's test evaluator (default: its first)")
    add('--out', metavar='FILE.json', help='write the results')
    add('--plot', metavar='FILE.png', help='draw the results (.png, .pdf, .svg)')
    add('--draw', nargs='+', metavar='FILE.json', help='draw these, measure nothing')
    add('--labels', nargs='+', help='names in the legend, all different (default: of the files)')
    add('--memory', type=float, default=2, help='GiB of pictures to keep decoded (default: 2)')
    add('--work-dir', help="for logs (default: the config's work_dir, or work_dirs/<config name>)")
    add_cfg_options(parser)
    args = parser.parse_args()
    if args.draw is None and args.checkpoint is None:
        parser.error('give a config and a checkpoint, or --draw with --plot')
    if args.draw is not None and (args.config is not None or args.plot is None):
        parser.error('--draw takes no config and needs --plot')
    if args.curve and 'white' not in args.noise:
        parser.error('--curve is of white noise; add white to --noise')
    labels, curves = args.labels, args.draw or [args.config]
    if labels and not len(set(labels)) == len(labels) == len(curves):
        parser.error('--labels needs one name for each curve, all different')
    return args


def chosen_study(args: argparse.Namespace) -> Study:
    levels = {noise: list(args.levels or PAPER_LEVELS[noise]) for noise in args.noise}
    if args.curve:
        levels['white'] += CURVE_LEVELS
    return Study(levels, args.mode, args.seeds)


def measure(args: argparse.Namespace) -> dict[str, Any]:
    study = chosen_study(args)
    cfg = prepare_config(read_config(args.config, args.cfg_options))
    set_work_dir(cfg, args)
    set_loader_defaults(cfg, 'test_dataloader', pin_memory=True, persistent_workers=False)
    record = measure_robustness(cfg, args.checkpoint, study, args.metric, args.memory)
    record |= {'config': args.config, 'checkpoint': args.checkpoint}
    return record | {'versions': {'mmshufflemix': __version__, **describe_machine()}}


def main() -> None:
    args = parse_args()
    if args.plot:
        check_picture_file(args.plot)
    for path in filter(None, (args.out, args.plot)):
        check_writable(path)
    names = args.labels or curve_names(args.draw or [args.config])
    if args.draw:
        records = [read_record(path) for path in args.draw]
    else:
        records = [measure(args)]
        print(format_table(records[0]))
        if args.out:
            write_json(args.out, records[0])
    if args.plot:
        draw_robustness(args.plot, dict(zip(names, records, strict=True)))


if __name__ == '__main__':
    run_cli(main)
