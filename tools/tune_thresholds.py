"""Choose the lowest score of a label, for each class, from the predictions of a labelled set."""

from __future__ import annotations

import argparse

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.evaluation.threshold_report import (
    format_held_out,
    format_thresholds,
    read_predictions,
    threshold_record,
)
from mmshufflemix.evaluation.thresholds import TuningRule
from mmshufflemix.files import check_writable, write_json
from mmshufflemix.inference.names import read_names
from mmshufflemix.option_types import SEED


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument(
        'predictions',
        help='JSON file of tools/test.py --out, on images that are not those of the final test',
    )
    parser.add_argument('-o', '--output', required=True, help='the JSON file to write')
    parser.add_argument(
        '--names',
        metavar='FILE',
        help='where class names come from: the checkpoint (.pth), the config (.py), or a text file '
        'with one a line (default: numbers)',
    )
    parser.add_argument(
        '--precision', type=float, help='the lowest threshold of this precision, not the best F1'
    )
    parser.add_argument(
        '--min-support',
        type=int,
        default=10,
        help='classes with fewer positives take the threshold of all together (default: 10)',
    )
    parser.add_argument(
        '--shrinkage',
        type=float,
        default=0,
        help='pull a class with n positives towards it by SHRINKAGE / (n + SHRINKAGE) (default: 0)',
    )
    parser.add_argument(
        '--folds',
        type=int,
        default=5,
        help='measure the gain on images held out in turn; 0 does not (default: 5)',
    )
    parser.add_argument('--seed', type=SEED, default=0, help='of the folds (default: 0)')
    return parser.parse_args()


def main() -> None:
    args = parse_args()
    check_writable(args.output)
    rule = TuningRule(args.precision, args.min_support, args.shrinkage)
    names = read_names(args.names) if args.names else None
    scores, targets, valid, names = read_predictions(args.predictions, names)
    record = threshold_record(scores, targets, valid, names, rule, args.folds, args.seed)
    print(format_thresholds(record))
    print(f'all classes together: {record["shared_threshold"]:.4f}')
    if args.folds:
        print(f'\nOn {args.folds} held-out folds of {len(scores)} images, in percent:')
        print(format_held_out(record))
    write_json(args.output, record)
    print(f'wrote {args.output}')


if __name__ == '__main__':
    run_cli(main)
