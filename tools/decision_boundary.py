"""Draw how mixing shapes the decision boundaries of a small network on rings of points."""

from __future__ import annotations

import argparse
from pathlib import Path

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.decision_boundary import (
    CLASS_COUNTS,
    DEFAULT_METHODS,
    METHODS,
    Schedule,
    Study,
    accuracy_table,
    choose_methods,
    draw_boundaries,
    run_study,
    study_record,
)
from mmshufflemix.files import check_writable, write_json
from mmshufflemix.pictures import check_picture_file

from mmengine.logging import MMLogger
from rich.progress import Progress


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument(
        '--methods',
        nargs='+',
        default=DEFAULT_METHODS,
        metavar='NAME',
        help=f'any of {", ".join(METHODS)} (default: the first {len(DEFAULT_METHODS)})',
    )
    parser.add_argument(
        '--seeds',
        nargs='+',
        type=int,
        default=[0],
        help='several give mean and deviation in the table, the first is drawn (default: 0)',
    )
    parser.add_argument(
        '--epochs',
        type=int,
        default=Schedule.epochs,
        help='of each training (default: %(default)s)',
    )
    parser.add_argument(
        '--noise',
        type=float,
        default=Study.noise,
        help='standard deviation around rings whose outermost has radius 1 (default: %(default)s)',
    )
    parser.add_argument(
        '--points',
        type=int,
        default=Study.train_points,
        help='training points of each class (default: %(default)s)',
    )
    parser.add_argument(
        '--out',
        type=Path,
        default=Path('work_dirs/decision_boundary.png'),
        help='picture to write, .png, .pdf or .svg (default: %(default)s)',
    )
    parser.add_argument('--json', type=Path, help='file for settings and accuracies')
    return parser.parse_args()


def main() -> None:
    args = parse_args()
    check_picture_file(args.out)
    methods = choose_methods(args.methods)
    seeds = args.seeds
    study = Study(args.noise, args.points, seeds=seeds, schedule=Schedule(args.epochs))
    for path in filter(None, (args.out, args.json)):
        check_writable(path)
    # The mixed layers would be logged for each of the networks.
    MMLogger.get_instance('decision_boundary', log_level='WARNING')
    with Progress() as progress:
        task = progress.add_task('training', total=len(methods) * len(CLASS_COUNTS) * len(seeds))
        outcomes = run_study(methods, study, report=lambda: progress.advance(task))
    names = f'seed{"s" * (len(seeds) > 1)} {", ".join(map(str, seeds))}'
    print(
        f'test accuracy in percent, {names}, {args.points} training points a class, noise '
        f'{args.noise:g}, {args.epochs} epoch{"s" * (args.epochs > 1)}'
    )
    print(accuracy_table(outcomes))
    draw_boundaries(args.out, [outcome for outcome in outcomes if outcome.seed == seeds[0]])
    print(f'picture: {args.out}')
    if args.json:
        write_json(args.json, study_record(study, outcomes))
        print(f'numbers: {args.json}')


if __name__ == '__main__':
    run_cli(main)
