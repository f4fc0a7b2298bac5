"""``op``: the mixing operation against the authors' way of doing it."""

from __future__ import annotations

import argparse
import math
from functools import partial
from typing import Any

from mmshufflemix.benchmark.commands.progress import show_progress
from mmshufflemix.benchmark.op import OP_MODES, OP_SHAPES, measure_op, shape_name
from mmshufflemix.option_types import PAIRS, SEED, available_device, whole_number

__all__ = ['add_command']

_MOST_VALUES = 2**30


def add_command(commands: argparse._SubParsersAction) -> None:
    """Add the command to the tool's parser."""
    parser = commands.add_parser(
        'op', help='mix_features, forward and backward, against indexed reads and writes'
    )
    parser.add_argument('--pairs', type=PAIRS, default=25, help='pairs of calls (default: 25)')
    parser.add_argument('--seed', type=SEED, default=0, help='of features and draws (default: 0)')
    parser.add_argument(
        '--device', type=available_device, default='cpu', help='cpu, cuda or cuda:1 (default: cpu)'
    )
    parser.add_argument(
        '--shape',
        type=whole_number(1, _MOST_VALUES),
        nargs='+',
        action='append',
        metavar='SIZE',
        help=f'N C H W of the features; may be given again (default: {_names(OP_SHAPES)})',
    )
    parser.set_defaults(run=partial(run, parser))


def run(parser: argparse.ArgumentParser, args: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Measure and print one shape and mode after the other."""
    shapes = [tuple(shape) for shape in args.shape or OP_SHAPES]
    for shape in shapes:
        # An image is mixed with another one, and half of the channels has to be one at least.
        if len(shape) < 2 or min(shape[:2]) < 2 or math.prod(shape) > _MOST_VALUES:
            parser.error(
                'argument --shape: must be at least 2 images and 2 channels, and at most '
                f'{_MOST_VALUES} values in all, got {shape_name(shape)}'
            )
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
