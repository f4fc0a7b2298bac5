"""Blending kernel behind ``functional.mix_features``: one pass over both operands."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from mmshufflemix._device import send

__all__ = ['blend_channels']

# Below this many elements an image, one call for the batch beats one call for each image.
_MIN_IMAGE_NUMEL = 32_768


def blend_channels(x: Tensor, perm: Tensor, weight: Tensor) -> Tensor:
    """``(1 - weight) * x + weight * x[perm]``, nothing of the size of ``x`` kept for backward.

    Args:
        x: Features (N, ...).
        perm: Permutation of 0..N-1 (N,), on any device.
        weight: Weight of the partner, broadcastable to ``x``; its first dimension is 1 or N.
    """
    if torch.compiler.is_compiling():
        return torch.lerp(x, x[send(perm, x.device)], weight)
    return _Blend.apply(x, perm, weight)


class _Blend(torch.autograd.Function):
    """The gradient of a blend is a blend with the inverse permutation."""

    @staticmethod
    def forward(x: Tensor, perm: Tensor, weight: Tensor) -> Tensor:
        return _blend(x, perm, weight)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, *_: None) -> Tensor:
        return _Blend.apply(tangent, *ctx.saved_tensors)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        perm, weight = ctx.saved_tensors
        inverse = torch.argsort(perm)
        if weight.shape[0] == 1:
            return _Blend.apply(grad, inverse, weight), None, None
        given = grad * weight
        return grad - given + given[send(inverse, grad.device)], None, None


@torch.compiler.disable
def _blend(x: Tensor, perm: Tensor, weight: Tensor) -> Tensor:
    if x.device.type != 'cpu' or x.numel() < _MIN_IMAGE_NUMEL * len(x):
        # Indexing keeps the memory format, which torch.index_select does not.
        return torch.lerp(x, x[send(perm, x.device)], weight)
    out = torch.empty_like(x)
    images = x.unbind(0)
    weights = weight.expand(len(images), *weight.shape[1:]).unbind(0)
    for own, partner, share, target in zip(
        images, perm.tolist(), weights, out.unbind(0), strict=True
    ):
        torch.lerp(own, images[partner], share, out=target)
    return out
