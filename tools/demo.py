"""Train ML-GCN with ShuffleMix and a plain baseline on built-in data, and compare them."""

from __future__ import annotations

import argparse
from pathlib import Path

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.demo import run_demo
from mmshufflemix.option_types import SEED

REPO = Path(__file__).resolve().parents[1]


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument('--seed', type=SEED, default=0, help='seed of the training (default 0)')
    parser.add_argument('--epochs', type=int, default=80, help='epochs of each (default 80)')
    parser.add_argument(
        '--work-dir',
        type=Path,
        default=REPO / 'work_dirs' / 'demo',
        help='folder for logs, checkpoints and pictures (default work_dirs/demo)',
    )
    return parser.parse_args()


def main() -> None:
    args = parse_args()
    run_demo(REPO, args.work_dir, seed=args.seed, epochs=args.epochs)


if __name__ == '__main__':
    run_cli(main)
