"""``step``: what an augment adds to a training step."""

from __future__ import annotations

import argparse
from functools import partial

from mmshufflemix.benchmark.commands.progress import show_progress
from mmshufflemix.benchmark.network import DEPTHS
from mmshufflemix.benchmark.step import PRECISIONS, STEP_AUGMENTS, StepCost, measure_step
from mmshufflemix.option_types import PAIRS, SEED, available_device, whole_number

__all__ = ['add_command']


def add_command(commands: argparse._SubParsersAction) -> None:
    """Add the command to the tool's parser."""
    parser = commands.add_parser(
        'step', help='a training step of PreActResNet with each augment, against a plain step'
    )
    parser.add_argument('--pairs', type=PAIRS, default=60, help='pairs of steps (default: 60)')
    parser.add_argument(
        # Mixing takes two.
        '--batch-size',
        type=whole_number(2, 65536),
        default=32,
        help='images (default: 32)',
    )
    parser.add_argument(
        '--depth', type=int, choices=DEPTHS, default=18, help='of PreActResNet (default: 18)'
    )
    parser.add_argument('--seed', type=SEED, default=0, help='of weights and draws (default: 0)')
    parser.add_argument(
        '--precision', choices=list(PRECISIONS), default='float32', help='(default: float32)'
    )
    parser.add_argument('--ema', action='store_true', help='average the weights after each step')
    parser.add_argument(
        '--device', type=available_device, default='cpu', help='cpu, cuda or cuda:1 (default: cpu)'
    )
    parser.add_argument(
        '--augments',
        nargs='+',
        choices=list(STEP_AUGMENTS),
        default=list(STEP_AUGMENTS),
        metavar='NAME',
        help=f'which of {", ".join(STEP_AUGMENTS)} (default: all)',
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Measure and print one augment after the other."""
    cost = StepCost(
        args.depth,
        args.batch_size,
        args.pairs,
        args.seed,
        args.precision,
        args.ema,
        args.device,
    )
    results = {}
    for name in args.augments:
        progress = partial(show_progress, name, total=args.pairs)
        results[name] = result = measure_step(STEP_AUGMENTS[name], cost, progress).summary()
        print(
            f'\r{name:20s} {result["ratio"]:.3f} of a plain step '
            f'(quartiles {result["ratio_q1"]:.3f} to {result["ratio_q3"]:.3f}, '
            f'+- {result["ratio_error"]:.3f}; {1000 * result["base_seconds"]:.0f} ms plain)'
        )
    return results
