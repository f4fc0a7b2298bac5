"""Train a model from a config, with the hooks that make epoch-based training resume exactly.

Hooks for this that the config lacks are added and logged.
"""

from __future__ import annotations

import argparse

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.launch import add_run_options, begin_process
from mmshufflemix.prepare import check_amp, check_optimizer, prepare_config, read_config
from mmshufflemix.resumable import make_resumable
from mmshufflemix.starting_weights import check_starting_weights
from mmshufflemix.training import merge_train_args, run_training


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


def main() -> None:
    args = parse_args()
    begin_process(args)
    cfg = make_resumable(prepare_config(merge_train_args(read_config(args.config), args)))
    check_optimizer(cfg)
    check_amp(cfg)
    check_starting_weights(cfg)
    run_training(cfg)


if __name__ == '__main__':
    run_cli(main)
