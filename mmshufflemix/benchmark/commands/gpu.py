"""``gpu``: images a second, cost of mixing and of the operation, peak memory on one GPU."""

from __future__ import annotations

import argparse
from typing import Any

import torch

from mmshufflemix.benchmark.compiled_mix import measure_compiled_mix
from mmshufflemix.benchmark.gpu import TRAINING_KINDS, TrainingCost, measure_training
from mmshufflemix.benchmark.op import OP_MODES, OP_SHAPES, measure_op, shape_name
from mmshufflemix.benchmark.step import STEP_AUGMENTS, StepCost, measure_step
from mmshufflemix.option_types import available_device

__all__ = ['add_command']

_AUGMENTS = {'plain': None, 'ShuffleMix': STEP_AUGMENTS['ShuffleMix']}
_PARTS = ('training', 'step', 'op', 'compiled-op')
_QUICK_SHAPES = ((8, 8, 8, 8),)


def add_command(commands: argparse._SubParsersAction) -> None:
    """Add the command to the tool's parser."""
    parser = commands.add_parser(
        'gpu', help='images a second through the fast path and of the bare step, on one GPU'
    )
    parser.add_argument(
        '--device',
        type=available_device,
        choices=['cuda', 'cpu'],
        default='cuda',
        help='(default: cuda)',
    )
    parser.add_argument(
        '--quick', action='store_true', help='tiny sizes, to see whether everything runs'
    )
    parser.add_argument(
        '--parts', nargs='+', choices=_PARTS, default=list(_PARTS), help='(default: all)'
    )
    parser.add_argument(
        '--kinds',
        nargs='+',
        choices=list(TRAINING_KINDS),
        default=list(TRAINING_KINDS),
        metavar='NAME',
        help=f'which of {", ".join(TRAINING_KINDS)} (default: all)',
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure and print one part after the other.

    Raises:
        ValueError: If the device is not what MMEngine's Runner would take.
    """
    if (args.device == 'cuda') != torch.cuda.is_available():
        raise ValueError(
            f'--device is {args.device}, and the Runner takes '
            f'{"the GPU it sees" if torch.cuda.is_available() else "the CPU, as it sees no GPU"}; '
            'give the other device, or set CUDA_VISIBLE_DEVICES'
        )
    results: dict[str, Any] = {}
    if args.device == 'cuda':
        results['gpu'] = torch.cuda.get_device_name()
        print(f'GPU: {results["gpu"]}')
    parts = {'training': _training, 'step': _step, 'op': _op, 'compiled-op': _compiled_op}
    for name in args.parts:
        results[name] = parts[name](args)
    return results


def _training(args: argparse.Namespace) -> dict[str, Any]:
    cost = TrainingCost(8, 4, 3, 1) if args.quick else TrainingCost()
    print('\nimages a second through the Runner, of the bare step, and peak memory')
    results = {}
    for kind in args.kinds:
        for name, augment in _AUGMENTS.items():
            row = f'{kind} {name}'
            results[row] = result = measure_training(TRAINING_KINDS[kind], augment, cost)
            memory = result['peak_memory_mib']
            print(
                f'{row:40s} {result["runner_images_per_second"]:9.0f} '
                f'{result["step_images_per_second"]:9.0f} '
                f'{"no GPU" if memory is None else f"{memory:.0f} MiB"}',
                flush=True,
            )
    return results


def _step(args: argparse.Namespace) -> dict[str, Any]:
    batch_size, pairs = (2, 2) if args.quick else (128, 60)
    print('\na step with ShuffleMix, of a plain step')
    results = {}
    for precision in ('float32', 'bf16'):
        cost = StepCost(batch_size=batch_size, pairs=pairs, precision=precision, device=args.device)
        results[precision] = result = measure_step(STEP_AUGMENTS['ShuffleMix'], cost).summary()
        print(
            f'{precision:40s} {result["ratio"]:.3f} (+- {result["ratio_error"]:.3f}; '
            f'{1000 * result["base_seconds"]:.2f} ms plain)',
            flush=True,
        )
    return results


def _op(args: argparse.Namespace) -> dict[str, Any]:
    print('\nmix_features forward and backward: times as fast as indexing, and of two copies')
    results = {}
    for shape in _shapes(args):
        for mode in OP_MODES:
            row = f'{shape_name(shape)} {mode}'
            results[row] = result = measure_op(shape, mode, _pairs(args), device=args.device)
            print(f'{row:40s} {result["speedup"]:.2f} {result["of_copies"]:.2f}', flush=True)
    return results


def _compiled_op(args: argparse.Namespace) -> dict[str, Any]:
    print('\ncompiled blend, forward and backward, of the eager one')
    results = {}
    for shape in _shapes(args):
        row = shape_name(shape)
        results[row] = result = measure_compiled_mix(shape, _pairs(args), args.device)
        print(f'{row:40s} {result["ratio"]:.2f}, faster: {result["faster"]}', flush=True)
    return results


def _shapes(args: argparse.Namespace) -> tuple[tuple[int, ...], ...]:
    return _QUICK_SHAPES if args.quick else OP_SHAPES


def _pairs(args: argparse.Namespace) -> int:
    return 2 if args.quick else 25
