"""Split labels in the JSON form into train, val and test, or folds, with classes in equal shares.

Images of one group (--group-by) and copies of one picture stay together. The parts depend on the
seed and on the names, labels and contents of the pictures, not on the order of the rows.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.dataset_split import SplitOptions, describe_split, split_file
from mmshufflemix.option_types import SEED

from rich.progress import track


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument('labels', help='JSON file, such as tools/convert_labels.py writes')
    parser.add_argument('-o', '--output', required=True, help='folder for the files of the parts')
    parser.add_argument('--val', type=float, help='share of the validation part (default: 0.2)')
    parser.add_argument('--test', type=float, help='share of the test part (default: 0.2)')
    parser.add_argument(
        '--folds', type=int, help='write fold0_train.json, fold0_val.json and so on instead'
    )
    parser.add_argument('--seed', type=SEED, default=0, help='seed of all draws (default: 0)')
    parser.add_argument(
        '--group-by',
        metavar='REGEX',
        help='keep images together for which this finds the same text in their path, such as '
        "'^([^_]+)_' for patient7_1.jpg and patient7_2.jpg",
    )
    parser.add_argument(
        '--images', help='folder of the pictures (default: images beside the file of the labels)'
    )
    parser.add_argument(
        '--keep-duplicates-together',
        action=argparse.BooleanOptionalAction,
        default=True,
        help='compare the contents of the pictures (default: yes)',
    )
    parser.add_argument('--force', action='store_true', help='replace an older split')
    args = parser.parse_args()
    if args.folds is not None and (args.val is not None or args.test is not None):
        parser.error('--folds goes without --val and --test')
    return args


def main() -> None:
    args = parse_args()
    images = Path(args.images or Path(args.labels).parent / 'images')
    if args.images and not images.is_dir():
        raise FileNotFoundError(f"the folder '{images}' does not exist; set --images to another")
    options = SplitOptions(
        val=0.2 if args.val is None else args.val,
        test=0.2 if args.test is None else args.test,
        folds=args.folds,
        seed=args.seed,
        group_by=args.group_by,
        images=images if args.keep_duplicates_together else None,
    )
    progress = partial(track, description='comparing pictures', transient=True)
    split = split_file(args.labels, args.output, options, args.force, progress)
    print(describe_split(split))
    print(f"wrote the parts to '{args.output}'")


if __name__ == '__main__':
    run_cli(main)
