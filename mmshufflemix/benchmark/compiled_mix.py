"""The blend of two images as it runs eagerly, against the same compiled by inductor."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from mmshufflemix._blend import blend_channels
from mmshufflemix.benchmark.machine import wait_for
from mmshufflemix.benchmark.paired import time_pairs

__all__ = ['measure_compiled_mix']

_LAMBDA = 0.3


def measure_compiled_mix(
    shape: tuple[int, ...], pairs: int, device: str, dtype: torch.dtype = torch.float32
) -> dict[str, Any]:
    """Time forward and backward of both, half of the channels mixed.

    Args:
        shape: Shape of the features (N, C, *).
        pairs: Number of timed pairs of calls.
        device: Where to measure.
        dtype: Type of the features.

    Returns:
        The summary of the pairs, compiled over eager, the name of the ``faster``, and the largest
        ``difference`` of their results.
    """
    torch.compiler.reset()
    compiled = torch.compile(blend_channels)
    prepare = partial(_operands, shape, device, dtype)
    features, perm, weight, _ = prepare(0)
    own, other = (mix(features, perm, weight) for mix in (blend_channels, compiled))
    times = time_pairs(
        lambda given: _run(blend_channels, given),
        lambda given: _run(compiled, given),
        prepare,
        pairs,
    )
    result: dict[str, Any] = times.summary()
    result['faster'] = 'compiled' if result['ratio'] < 1 else 'eager'
    result['difference'] = (own - other).abs().max().item()
    return result


def _operands(
    shape: tuple[int, ...], device: str, dtype: torch.dtype, number: int
) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(number + 10)
    features, grad = (torch.randn(shape, generator=generator).to(device, dtype) for _ in range(2))
    perm = torch.randperm(shape[0], generator=generator)
    weight = torch.zeros(1, shape[1], *[1] * (len(shape) - 2))
    weight[:, torch.randperm(shape[1], generator=generator)[: shape[1] // 2]] = 1 - _LAMBDA
    wait_for(device)
    return features.requires_grad_(), perm, weight.to(device, dtype), grad


def _run(mix: Any, given: tuple[Tensor, ...]) -> None:
    features, perm, weight, grad = given
    torch.autograd.grad(mix(features, perm, weight), features, grad)
    wait_for(features.device)
