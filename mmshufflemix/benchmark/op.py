"""The mixing operation alone, forward and backward, against the authors' way of doing it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mmshufflemix.benchmark.machine import wait_for
from mmshufflemix.benchmark.paired import PairedTimes, time_pairs
from mmshufflemix.functional import mix_features

__all__ = [
    'OP_MODES',
    'OP_SHAPES',
    'Operands',
    'kept_for_backward',
    'measure_op',
    'mix_by_indexing',
    'shape_name',
]

OP_SHAPES = ((128, 64, 32, 32), (128, 128, 16, 16), (128, 512, 4, 4), (16, 256, 112, 112))
"""Stage outputs of PreActResNet18 on CIFAR at batch 128, and of ResNet-101 at 448 pixels."""
OP_MODES = ('soft', 'hard')
_LAMBDA = 0.3

Mix = Callable[[Tensor, Tensor, Tensor, float], Tensor]


@dataclass(frozen=True)
class Operands:
    """What one call of a mixing function gets.

    Attributes:
        leaf: Where gradients arrive.
        x: Features (N, C, *), computed from ``leaf``, so that they can be written in place.
        perm: Partner of each image (N,).
        channels: Mixed channels (n,).
        lam: Weight of the own image.
        grad: Gradient of the mixed features.
    """

    leaf: Tensor
    x: Tensor
    perm: Tensor
    channels: Tensor
    lam: float
    grad: Tensor


def mix_by_indexing(x: Tensor, perm: Tensor, channels: Tensor, lam: float) -> Tensor:
    """Mix as the released code does: read the channels by index, blend, write them back in place.

    Args:
        x: Features (N, C, *), which are overwritten.
        perm: Partner of each image (N,).
        channels: Mixed channels (n,).
        lam: Weight of the own image; 0 is the hard form, which only exchanges.
    """
    partner = x[perm][:, channels]
    x[:, channels] = partner if lam == 0 else lam * x[:, channels] + (1 - lam) * partner
    return x


def measure_op(
    shape: tuple[int, ...],
    mode: str,
    pairs: int,
    seed: int = 0,
    device: str = 'cpu',
    report: Callable[[int], object] = lambda done: None,
) -> dict[str, Any]:
    """Time forward and backward of ``mix_features``, half of the channels, in two comparisons.

    Args:
        shape: Shape of the features (N, C, *).
        mode: ``'soft'`` or ``'hard'``.
        pairs: Number of timed pairs in each comparison.
        seed: Seed of features, partners and channels.
        device: Where to measure.
        report: Called with the number of pairs of the first comparison after each.

    Returns:
        ``speedup``, the median of the authors' time over ours, with quartiles and error;
        ``of_copies``, our time over that of copying features and gradient once each; the median
        times in seconds; and ``kept``, what is kept for backward in units of the features.
    """
    prepare = partial(_operands, shape, mode, seed, device)
    against = time_pairs(
        partial(_run, mix_features), partial(_run, mix_by_indexing), prepare, pairs, report=report
    ).summary()
    copies: PairedTimes = time_pairs(_copy, partial(_run, mix_features), prepare, pairs)
    copied = copies.summary()
    return {
        'speedup': against['ratio'],
        'speedup_q1': against['ratio_q1'],
        'speedup_q3': against['ratio_q3'],
        'speedup_error': against['ratio_error'],
        'seconds': against['base_seconds'],
        'authors_seconds': against['other_seconds'],
        'of_copies': copied['ratio'],
        'of_copies_q1': copied['ratio_q1'],
        'of_copies_q3': copied['ratio_q3'],
        'kept': kept_for_backward(mix_features, prepare(0)),
        'pairs': pairs,
    }


def shape_name(shape: tuple[int, ...]) -> str:
    """Write a shape as it is read, such as 128x64x32x32."""
    return 'x'.join(map(str, shape))


def kept_for_backward(mix: Mix, operands: Operands) -> float:
    """Memory that autograd keeps between forward and backward, in units of the features."""
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        mix(operands.x, operands.perm, operands.channels, operands.lam)
    return sum(kept.values()) / (math.prod(operands.x.shape) * operands.x.element_size())


def _operands(shape: tuple[int, ...], mode: str, seed: int, device: str, number: int) -> Operands:
    generator = torch.Generator().manual_seed(seed + number + 10)
    leaf = torch.randn(shape, generator=generator).to(device).requires_grad_()
    grad = torch.randn(shape, generator=generator).to(device)
    channels = torch.randperm(shape[1], generator=generator)[: shape[1] // 2]
    perm = torch.randperm(shape[0], generator=generator)
    x = leaf.clone()
    wait_for(device)
    return Operands(leaf, x, perm, channels, _LAMBDA if mode == 'soft' else 0.0, grad)


def _run(mix: Mix, given: Operands) -> None:
    mixed = mix(given.x, given.perm, given.channels, given.lam)
    torch.autograd.grad(mixed, given.leaf, given.grad)
    wait_for(mixed.device)


def _copy(given: Operands) -> None:
    given.x.detach().clone()
    given.grad.clone()
    wait_for(given.grad.device)
