"""Build the two built-in digit sets: canvases for multi-label training, and single digits."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.datasets.digits_files import write_digits, write_single_digits
from mmshufflemix.option_types import SEED

from rich.progress import track


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument(
        '--root', default='data', help='folder for digits_voc and digits_single (default data)'
    )
    parser.add_argument('--seed', type=SEED, default=0, help='seed of all draws (default 0)')
    return parser.parse_args()


def main() -> None:
    args = parse_args()
    root = Path(args.root)
    progress = partial(track, description='drawing digit canvases')
    canvases = write_digits(root / 'digits_voc', seed=args.seed, progress=progress)
    print(f'{canvases}: several digits an image, in VOC layout')
    singles = write_single_digits(root / 'digits_single', seed=args.seed)
    print(f'{singles}: one digit an image')


if __name__ == '__main__':
    run_cli(main)
