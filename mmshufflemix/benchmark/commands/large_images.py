"""``data-large``: decoding, cropping and resizing pictures larger than the network's input."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import cv2

from mmshufflemix.benchmark.commands.progress import show_progress
from mmshufflemix.benchmark.decode import (
    PreparationCost,
    measure_decoder,
    measure_stages,
    read_pictures,
)
from mmshufflemix.benchmark.decoders import BASE, list_decoders, list_resizers
from mmshufflemix.benchmark.resize import measure_resizer
from mmshufflemix.option_types import PAIRS, SEED, whole_number
from mmshufflemix.text import align_table

__all__ = ['add_command', 'run_large']


def add_command(commands: argparse._SubParsersAction) -> None:
    """Add the command to the tool's parser."""
    parser = commands.add_parser(
        'data-large', help='decode, crop and resize JPEG pictures, with several libraries'
    )
    parser.add_argument('folder', help='with the pictures, such as VOC2007/JPEGImages')
    parser.add_argument(
        '--size',
        type=whole_number(2, 8192),
        default=448,
        help='pixels of a side (default: 448)',
    )
    parser.add_argument(
        '--min-side',
        type=whole_number(1, 65535),
        help='least short side of a reduced picture (default: what the crop needs)',
    )
    parser.add_argument('--pairs', type=PAIRS, default=300, help='pairs of pictures (default: 300)')
    parser.add_argument('--seed', type=SEED, default=0, help='of the crops (default: 0)')
    parser.set_defaults(run=run_large)


def run_large(args: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Measure and print stages, decoders and resizers."""
    cost = PreparationCost(args.size, args.min_side, args.pairs, args.seed)
    pictures = read_pictures(args.folder)
    # As in the loader's workers, which share the cores.
    cv2.setNumThreads(0)
    print(f'{len(pictures)} pictures, to {cost.size} px, reduced to at least {cost.least_side} px')
    stages = measure_stages(pictures, cost)
    total = sum(stages.values())
    lines = [(name, f'{1000 * s:.2f}', f'{100 * s / total:.0f} %') for name, s in stages.items()]
    print('\n' + align_table([('OpenCV', 'ms', 'share'), *lines]))

    decoders = _measure_all(list_decoders(cost.least_side), measure_decoder, pictures, cost)
    print('\n' + _table('decoder', ('decode', 'pipeline'), decoders))

    resizers = _measure_all(list_resizers(), measure_resizer, pictures, cost)
    print('\n' + _table('resizer', ('resize',), resizers))
    print('\ngrey levels: absolute difference to OpenCV after the resize; ratios with their error')
    return {'stages': stages, 'decoders': decoders, 'resizers': resizers}


def _measure_all(
    functions: Mapping[str, Any],
    measure: Callable[..., dict[str, Any]],
    pictures: Sequence[bytes],
    cost: PreparationCost,
) -> dict[str, dict[str, Any] | None]:
    results: dict[str, dict[str, Any] | None] = {}
    for name, function in functions.items():
        if name != BASE:
            progress = partial(show_progress, name, total=cost.pairs)
            results[name] = function and measure(pictures, name, cost, progress)
    return results


def _table(what: str, timed: Sequence[str], results: Mapping[str, dict[str, Any] | None]) -> str:
    """Make a table that starts with OpenCV itself, timed beside the first of the others."""
    first = next(result for result in results.values() if result)
    head = [what, *(cell for key in timed for cell in (f'{key} ms', 'times as fast'))]
    own = [cell for key in timed for cell in (_ms(first[key]['base_seconds']), '1')]
    lines = [[*head, 'mean grey levels', '99 %', 'max'], [BASE, *own, '0.00', '0', '0']]
    for name, result in results.items():
        if result is None:
            lines.append([name, 'not installed', *[''] * (len(lines[0]) - 2)])
            continue
        cells = [cell for key in timed for cell in _cells(result[key])]
        gaps = [f'{result["mean"]:.2f}', str(result['p99']), str(result['max'])]
        lines.append([name, *cells, *gaps])
    return align_table(lines)


def _cells(summary: Mapping[str, float]) -> tuple[str, str]:
    ratio, error = summary['ratio'], summary['ratio_error']
    return _ms(summary['other_seconds']), f'{1 / ratio:.2f} +- {error / ratio**2:.2f}'


def _ms(seconds: float) -> str:
    return f'{1000 * seconds:.2f}'
