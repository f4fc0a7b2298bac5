"""The method as pure functions: every draw is an argument, no argument is written.

Letters in shapes: N images of a batch, C channels, K classes, n mixed channels.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from mmshufflemix._blend import blend_channels
from mmshufflemix._device import send

__all__ = [
    'inject_noise',
    'label_weight',
    'mix_features',
    'mix_targets',
    'num_mixed_channels',
    'threshold_targets',
]


def num_mixed_channels(ratio: float, num_channels: int) -> int:
    """Number of channels that a mixing ratio means at a layer.

    Paper section 3.2, ``floor(r * C)``. At least 1 for any positive ratio, so that a drawn layer is
    never a silent no-op.

    Args:
        ratio: Share of mixed channels, in [0, 1].
        num_channels: C of the layer.
    """
    if ratio == 0:
        return 0
    # The small term keeps products such as 0.29 * 100 = 28.999... from losing a channel.
    return max(1, math.floor(ratio * num_channels + 1e-9))


def mix_features(
    x: Tensor,
    perm: Tensor,
    channels: Tensor,
    lam: float | Tensor,
    channel_axis: int = 1,
) -> Tensor:
    """Interpolate the chosen channels of every image with those of its partner.

    ``h[i, c] = lam * x[i, c] + (1 - lam) * x[perm[i], c]`` for ``c`` in ``channels``, all other
    channels stay (paper equation 4). ``lam=0`` is the hard form, a plain swap; all channels are
    Manifold Mixup.

    Both directions of automatic differentiation reach ``x``, and nothing else is differentiable;
    ``torch.func.vmap`` is not supported. Where ``x``, or the difference of two partners, is not
    finite, the result need not be either, in whatever channel.

    Args:
        x: Floating-point features (N, C, *), or with the channels at another axis.
        perm: Partner of each image, a permutation of 0..N-1 (N,).
        channels: Mixed channels, (n,) for the whole batch or (N, n) with a choice for each image.
        lam: Weight of the own image in [0, 1]; a number, or a tensor (N,) with one for each image.
        channel_axis: Axis of C in ``x``; negative counts from the end.

    Returns:
        A new tensor with the shape, dtype, device and memory format of ``x``.

    Raises:
        TypeError: If ``x`` is not floating point, or ``perm`` or ``channels`` not int64.
        ValueError: If shapes, the permutation, the channels, or ``lam`` do not fit, or ``lam`` asks
            for a gradient.
    """
    axis = _check_features(x, channel_axis)
    _check_permutation(perm, x.shape[0])
    _check_channels(channels, x.shape[0], x.shape[axis])
    if isinstance(lam, Tensor) and lam.requires_grad:
        raise ValueError('lam would get no gradient, although it asks for one; detach it first')
    _check_unit_interval('lam', lam, x.shape[0])
    return blend_channels(x, perm, _partner_weights(x, channels, lam, axis))


def label_weight(num_mixed: int, num_channels: int, lam: float | Tensor) -> float | Tensor:
    """Share of the own label: ``1 - n / C * (1 - lam)`` with the channels really mixed.

    Paper equation 5, as in the released code. An input of 3 channels at ratio 0.5 mixes one
    channel, so a third, not a half.

    Args:
        num_mixed: n, in 0..C.
        num_channels: C, at least 1.
        lam: Weight of the own image in [0, 1], a number or a tensor (N,).
    """
    _check_unit_interval('lam', lam)
    if num_channels < 1 or not 0 <= num_mixed <= num_channels:
        raise ValueError(
            f'num_mixed must lie in 0..num_channels with num_channels >= 1, '
            f'got {num_mixed} of {num_channels}'
        )
    return 1 - num_mixed / num_channels * (1 - lam)


def mix_targets(y: Tensor, perm: Tensor, weight: float | Tensor) -> Tensor:
    """Mix one-hot or multi-hot targets: ``weight * y + (1 - weight) * y[perm]``.

    A class that both images have stays exactly 1 whatever the weight.

    Args:
        y: Targets (N, K) in [0, 1]; integers become float32.
        perm: Partner of each image (N,).
        weight: Share of the own target in [0, 1], a number or a tensor (N,).

    Raises:
        ValueError: If ``y`` is not of shape (N, K) or ``perm`` and ``weight`` do not fit it.
    """
    if y.ndim != 2:
        raise ValueError(f'targets must have the shape (N, K), got {tuple(y.shape)}')
    _check_permutation(perm, y.shape[0])
    _check_unit_interval('weight', weight, y.shape[0])
    y = y if y.is_floating_point() else y.float()
    partner = y[send(perm, y.device)]
    if isinstance(weight, Tensor):
        return torch.lerp(y, partner, send((1 - weight).to(y.dtype), y.device).reshape(-1, 1))
    return torch.lerp(y, partner, 1 - weight)


def threshold_targets(y: Tensor, m: float) -> Tensor:
    """Turn mixed targets into 0/1: 1 where ``y >= m``, else 0 (paper section 3.3).

    The comparison forgives one unit of rounding, so that a class of both images, which sums to 1,
    survives ``m = 1`` in every precision.

    Args:
        y: Mixed targets (N, K); integers become float32.
        m: Threshold in (0, 1]; the paper studies 0.1 to 0.5.
    """
    check_label_threshold(m)
    y = y if y.is_floating_point() else y.float()
    return (y >= m * (1 - torch.finfo(y.dtype).eps)).to(y.dtype)


def inject_noise(
    x: Tensor,
    add_noise: float,
    mult_noise: float,
    generator: torch.Generator | None = None,
    *,
    per_sample: bool = False,
) -> Tensor:
    """Noise of Noisy Feature Mixup: ``(1 + mult * b1 * u) * x + add * b2 * g``.

    arXiv 2110.02180: elementwise ``g ~ N(0, 1)`` and ``u ~ U(-1, 1)``, and strengths
    ``b1, b2 ~ Beta(2, 5)``.

    Args:
        x: Floating-point features of any shape (N, *).
        add_noise: Scale of the additive noise, at least 0.
        mult_noise: Scale of the multiplicative noise, at least 0.
        generator: Source of the draws, on the device of ``x``.
        per_sample: Draw ``b1`` and ``b2`` for each image and not once a batch.

    Returns:
        A new tensor with the shape, dtype and device of ``x``.
    """
    for name, value in (('add_noise', add_noise), ('mult_noise', mult_noise)):
        check_noise(name, value)
    rows = x.shape[0] if per_sample else 1
    # The second smallest of six uniform numbers follows Beta(2, 5).
    order = torch.rand(2, rows, 6, generator=generator, device=x.device).sort(dim=-1).values
    strengths = order[..., 1].to(x.dtype)
    mult, add = (s.reshape(rows, *[1] * (x.ndim - 1)) for s in strengths)
    if mult_noise:
        uniform = torch.empty_like(x).uniform_(-1, 1, generator=generator)
        x = x * uniform.mul_(mult * mult_noise).add_(1)
    if add_noise:
        x = x + torch.empty_like(x).normal_(generator=generator).mul_(add * add_noise)
    return x.clone() if not (mult_noise or add_noise) else x


def check_number(name: str, value: float) -> None:
    """Refuse what is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f'{name} must be a number, got {value!r} of type {type(value).__name__}')


def check_label_threshold(m: float) -> None:
    """Refuse a label threshold outside (0, 1]."""
    check_number('the label threshold', m)
    if not 0 < m <= 1:
        raise ValueError(f'the label threshold must lie in (0, 1], got {m}')


def check_noise(name: str, value: float) -> None:
    """Refuse a negative or non-finite noise scale."""
    check_number(name, value)
    if not (value >= 0 and math.isfinite(value)):
        raise ValueError(f'{name} must be a finite number >= 0, got {value}')


def _partner_weights(x: Tensor, channels: Tensor, lam: float | Tensor, axis: int) -> Tensor:
    """Weight of the partner for each channel, shaped to broadcast over ``x``."""
    num_channels = x.shape[axis]
    rows = x.shape[0] if (isinstance(lam, Tensor) and lam.ndim == 1) or channels.ndim == 2 else 1
    mask = torch.zeros(rows, num_channels, dtype=torch.float64)
    mask.scatter_(1, channels.cpu().expand(rows, -1), 1.0)
    own = lam.double().cpu().reshape(-1, 1) if isinstance(lam, Tensor) else lam
    shape = [1] * x.ndim
    shape[0], shape[axis] = rows, num_channels
    return send((mask * (1 - own)).to(x.dtype), x.device).reshape(shape)


def _kind(value: object) -> str:
    return str(value.dtype) if isinstance(value, Tensor) else type(value).__name__


def _check_features(x: Tensor, channel_axis: int) -> int:
    if not isinstance(x, Tensor) or not x.is_floating_point():
        raise TypeError(f'features must be a floating-point tensor, got {_kind(x)}')
    if not -x.ndim <= channel_axis < x.ndim or channel_axis % x.ndim == 0:
        raise ValueError(
            f'channel_axis must name an axis of the features other than the batch axis 0, '
            f'got {channel_axis} for the shape {tuple(x.shape)}'
        )
    return channel_axis % x.ndim


def _check_permutation(perm: Tensor, size: int) -> None:
    if not isinstance(perm, Tensor) or perm.dtype != torch.int64:
        raise TypeError(f'perm must be an int64 tensor, got {_kind(perm)}')
    if perm.shape != (size,):
        raise ValueError(
            f'perm must name a partner for each of {size} images, got shape {tuple(perm.shape)}'
        )
    # On another device the comparison would wait for it; there the caller vouches.
    if perm.device.type == 'cpu' and sorted(perm.tolist()) != list(range(size)):
        raise ValueError(f'perm must be a permutation of 0..{size - 1}, got {perm.tolist()}')


def _check_channels(channels: Tensor, size: int, num_channels: int) -> None:
    if not isinstance(channels, Tensor) or channels.dtype != torch.int64:
        raise TypeError(f'channels must be an int64 tensor, got {_kind(channels)}')
    if channels.ndim not in (1, 2) or (channels.ndim == 2 and channels.shape[0] != size):
        raise ValueError(
            f'channels must have the shape (n,) or ({size}, n), got {tuple(channels.shape)}'
        )
    if channels.device.type == 'cpu' and channels.numel():
        low, high = int(channels.min()), int(channels.max())
        if low < 0 or high >= num_channels:
            raise ValueError(f'channels must lie in 0..{num_channels - 1}, got {low}..{high}')
        if (channels.sort().values.diff() == 0).any():
            raise ValueError('channels must not repeat one, since each counts in the label weight')


def _check_unit_interval(name: str, value: float | Tensor, size: int | None = None) -> None:
    if isinstance(value, Tensor):
        if value.ndim and size is not None and value.shape != (size,):
            raise ValueError(
                f'{name} must be a number or have the shape ({size},), got {tuple(value.shape)}'
            )
        if value.device.type != 'cpu':
            return
        low, high = (float(value.min()), float(value.max())) if value.numel() else (0.0, 1.0)
    else:
        check_number(name, value)
        low = high = float(value)
    if not (low >= 0 and high <= 1):
        raise ValueError(f'{name} must lie in [0, 1], got {low if low == high else (low, high)}')
