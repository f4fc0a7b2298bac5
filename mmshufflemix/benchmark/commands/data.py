"""``data``: loading and Runner loop for small images, ordinary and fast."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from mmshufflemix.benchmark.commands.progress import show_progress
from mmshufflemix.benchmark.data import LoadingCost, measure_loading
from mmshufflemix.option_types import BATCH_SIZE, PAIRS, SEED, whole_number

__all__ = ['add_command']


def add_command(commands: argparse._SubParsersAction) -> None:
    """Add the command to the tool's parser."""
    parser = commands.add_parser(
        'data', help='an image through the Runner with a model that does nothing, both pipelines'
    )
    parser.add_argument('--pairs', type=PAIRS, default=5, help='pairs of epochs (default: 5)')
    parser.add_argument(
        '--images',
        type=whole_number(1, 10**6),
        default=12800,
        help='of an epoch (default: 12800)',
    )
    parser.add_argument('--batch-size', type=BATCH_SIZE, default=128, help='images (default: 128)')
    parser.add_argument(
        '--workers',
        type=whole_number(0, 256),
        default=0,
        help='of the ordinary pipeline (default: 0)',
    )
    parser.add_argument(
        '--steps-before',
        type=whole_number(0, 10**6),
        default=0,
        help='steps logged already (default: 0)',
    )
    parser.add_argument('--seed', type=SEED, default=0, help='of images and draws (default: 0)')
    parser.set_defaults(run=partial(run, parser))


def run(parser: argparse.ArgumentParser, args: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Measure and print."""
    if args.images < args.batch_size:
        parser.error(
            f'argument --images: must be at least --batch-size, which is {args.batch_size}, '
            f'got {args.images}'
        )
    cost = LoadingCost(
        args.images, args.batch_size, args.workers, args.steps_before, args.pairs, args.seed
    )
    result = measure_loading(cost, partial(show_progress, 'data', total=args.pairs))
    print('\rmicroseconds an image, median (quartiles):')
    for name in ('ordinary', 'fast'):
        print(
            f'{name:10s} {result[name]:7.1f} ({result[f"{name}_q1"]:.1f} to '
            f'{result[f"{name}_q3"]:.1f})'
        )
    print(
        f'{"speedup":10s} {result["speedup"]:7.1f} ({result["speedup_q1"]:.1f} to '
        f'{result["speedup_q3"]:.1f})'
    )
    return {'small': result}
