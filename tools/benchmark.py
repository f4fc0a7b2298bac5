"""Measure what mixing costs on this machine."""

from __future__ import annotations

import argparse
import sys

import torch
from mmpretrain.utils import register_all_modules

from mmshufflemix.benchmark import STEP_AUGMENTS, StepCost, describe_machine, measure_step
from mmshufflemix.benchmark.robustness import RobustnessCost, measure_robustness_study
from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.files import write_json


def add_step(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        'step', help='a training step of PreActResNet with each augment, against a plain step'
    )
    parser.add_argument('--pairs', type=int, default=60, help='pairs of steps (default: 60)')
    parser.add_argument('--batch-size', type=int, default=32, help='images (default: 32)')
    parser.add_argument('--depth', type=int, default=18, help='of PreActResNet (default: 18)')
    parser.add_argument('--seed', type=int, default=0, help='of weights and draws (default: 0)')
    parser.add_argument(
        '--augments',
        nargs='+',
        choices=list(STEP_AUGMENTS),
        default=list(STEP_AUGMENTS),
        metavar='NAME',
        help=f'which of {", ".join(STEP_AUGMENTS)} (default: all)',
    )
    parser.set_defaults(run=run_step)


def run_step(args: argparse.Namespace) -> dict[str, dict[str, float]]:
    cost = StepCost(args.depth, args.batch_size, args.pairs, args.seed)
    results = {}
    for name in args.augments:
        times = measure_step(STEP_AUGMENTS[name], cost, lambda done: show(name, done, args.pairs))  # noqa: B023
        results[name] = result = times.summary()
        print(
            f'\r{name:20s} {result["ratio"]:.3f} of a plain step '
            f'(quartiles {result["ratio_q1"]:.3f} to {result["ratio_q3"]:.3f}, '
            f'+- {result["ratio_error"]:.3f}; {1000 * result["base_seconds"]:.0f} ms plain)'
        )
    return results


def add_robustness(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        'robustness', help='a robustness study of PreActResNet18, against its forward passes alone'
    )
    parser.add_argument('--pairs', type=int, default=5, help='pairs of studies (default: 5)')
    parser.add_argument('--batch-size', type=int, default=100, help='images (default: 100)')
    parser.add_argument(
        '--base-channels', type=int, default=64, help='of PreActResNet18 (default: 64)'
    )
    parser.add_argument('--seed', type=int, default=0, help='of weights and images (default: 0)')
    parser.set_defaults(run=run_robustness)


def run_robustness(args: argparse.Namespace) -> dict[str, dict[str, float]]:
    cost = RobustnessCost(18, args.base_channels, args.batch_size, args.pairs, args.seed)
    times = measure_robustness_study(cost, lambda done: show('robustness', done, args.pairs))
    result = times.summary()
    print(
        f'\ra robustness study takes {result["ratio"]:.3f} of its forward passes '
        f'(+- {result["ratio_error"]:.3f})'
    )
    return {'robustness': result}


def show(name: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f'\r{name:20s} pair {done} of {total}', end='', file=sys.stderr, flush=True)


def main() -> None:
    parser = new_parser(__doc__)
    parser.add_argument('--threads', type=int, help='threads of PyTorch (default: its own choice)')
    parser.add_argument('--json', help='file for machine, settings and results')
    commands = parser.add_subparsers(required=True, metavar='COMMAND')
    add_step(commands)
    add_robustness(commands)
    args = parser.parse_args()
    if args.threads is not None:
        torch.set_num_threads(args.threads)
    register_all_modules()
    machine = describe_machine()
    print('\n'.join(f'{key}: {value}' for key, value in machine.items()), end='\n\n')
    results = args.run(args)
    if args.json:
        settings = {k: v for k, v in vars(args).items() if k not in ('run', 'json', 'traceback')}
        write_json(args.json, {'machine': machine, 'settings': settings, 'results': results})


if __name__ == '__main__':
    run_cli(main)
