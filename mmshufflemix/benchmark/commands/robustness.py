"""``robustness``: what noise adds to the forward passes of a robustness study."""

from __future__ import annotations

import argparse
from functools import partial

from mmshufflemix.benchmark.commands.progress import show_progress
from mmshufflemix.benchmark.robustness import RobustnessCost, measure_robustness_study
from mmshufflemix.option_types import BATCH_SIZE, PAIRS, SEED, whole_number

__all__ = ['add_command']


def add_command(commands: argparse._SubParsersAction) -> None:
    """Add the command to the tool's parser."""
    parser = commands.add_parser(
        'robustness', help='a robustness study of PreActResNet18, against its forward passes alone'
    )
    parser.add_argument('--pairs', type=PAIRS, default=5, help='pairs of studies (default: 5)')
    parser.add_argument('--batch-size', type=BATCH_SIZE, default=100, help='images (default: 100)')
    parser.add_argument(
        '--base-channels',
        type=whole_number(1, 1024),
        default=64,
        help='of PreActResNet18 (default: 64)',
    )
    parser.add_argument('--seed', type=SEED, default=0, help='of weights and images (default: 0)')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Measure and print."""
    cost = RobustnessCost(18, args.base_channels, args.batch_size, args.pairs, args.seed)
    progress = partial(show_progress, 'robustness', total=args.pairs)
    result = measure_robustness_study(cost, progress).summary()
    print(
        f'\ra robustness study takes {result["ratio"]:.3f} of its forward passes '
        f'(+- {result["ratio_error"]:.3f})'
    )
    return {'robustness': result}
