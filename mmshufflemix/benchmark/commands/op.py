"""``op``: the mixing operation against the authors' way of doing it."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from mmshufflemix.benchmark.commands.progress import show_progress
from mmshufflemix.benchmark.op import OP_MODES, OP_SHAPES, measure_op, shape_name

__all__ = ['add_command']


def add_command(commands: argparse._SubParsersAction) -> None:
    """Add the command to the tool's parser."""
    parser = commands.add_parser(
        'op', help='mix_features, forward and backward, against indexed reads and writes'
    )
    parser.add_argument('--pairs', type=int, default=25, help='pairs of calls (default: 25)')
    parser.add_argument('--seed', type=int, default=0, help='of features and draws (default: 0)')
    parser.add_argument('--device', default='cpu', help='such as cpu or cuda (default: cpu)')
    parser.add_argument(
        '--shape',
        type=int,
        nargs='+',
        action='append',
        metavar='SIZE',
        help=f'N C H W of the features; may be given again (default: {_names(OP_SHAPES)})',
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Measure and print one shape and mode after the other."""
    shapes = [tuple(shape) for shape in args.shape or OP_SHAPES]
    print(
        'forward and backward, half of the channels: times as fast as indexing, milliseconds of\n'
        'both, time in copies of features and gradient, memory kept for backward in features\n'
    )
    results = {}
    for shape in shapes:
        for mode in OP_MODES:
            name = f'{shape_name(shape)} {mode}'
            progress = partial(show_progress, name, total=args.pairs)
            results[name] = result = measure_op(
                shape, mode, args.pairs, args.seed, args.device, progress
            )
            print(
                f'\r{name:20s} {result["speedup"]:5.1f} x (quartiles {result["speedup_q1"]:.1f} to '
                f'{result["speedup_q3"]:.1f}); {1000 * result["seconds"]:.2f} against '
                f'{1000 * result["authors_seconds"]:.2f} ms; {result["of_copies"]:.2f} copies; '
                f'kept {result["kept"]:.4f}'
            )
    return results


def _names(shapes: tuple[tuple[int, ...], ...]) -> str:
    return ', '.join(map(shape_name, shapes))
