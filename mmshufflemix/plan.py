"""Every draw of one training step, made at once and frozen."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from mmshufflemix import functional
from mmshufflemix.layers import LayerSite

__all__ = ['MixPlan', 'check_alpha', 'check_ratio', 'draw_lambda', 'draw_plan', 'mix_layer']


@dataclass(frozen=True)
class MixPlan:
    """What one batch mixes, where, and with whom.

    Attributes:
        site: The layer drawn from S.
        perm: Partner of each image (N,).
        channels: Mixed channels of the layer, (n,) or (N, n).
        lam: Weight of the own image on these channels, a number or (N,).
        add_noise: Scale of the additive noise after mixing, 0 for none.
        mult_noise: Scale of the multiplicative noise after mixing, 0 for none.
        per_sample: Whether each image has draws of its own.
        noise_seed: Seed of the elementwise noise, so that a recomputed forward repeats it.
    """

    site: LayerSite
    perm: Tensor
    channels: Tensor
    lam: float | Tensor
    add_noise: float = 0.0
    mult_noise: float = 0.0
    per_sample: bool = False
    noise_seed: int = 0
    label_weight: float | Tensor = field(init=False)

    def __post_init__(self) -> None:
        weight = functional.label_weight(self.channels.shape[-1], self.site.channels, self.lam)
        object.__setattr__(self, 'label_weight', weight)


def draw_lambda(
    alpha: float, size: int | None, generator: torch.Generator | None = None
) -> float | Tensor:
    """Draw lambda ~ Beta(alpha, alpha).

    Args:
        alpha: In [0, 1e6]. 0 means lambda = 1, no mixing, as Mixup's authors have it.
        size: Number of draws, or None for one number.
        generator: Source of the draw, a CPU generator.

    Returns:
        A number in [0, 1], or a float64 tensor (size,).
    """
    if alpha == 0:
        return 1.0 if size is None else torch.ones(size, dtype=torch.float64)
    # NumPy's sampler works on a log scale and stays finite for a tiny alpha.
    values = np.random.default_rng(_draw_seed(generator)).beta(alpha, alpha, size)
    return float(values) if size is None else torch.from_numpy(values)


def draw_plan(
    sites: list[LayerSite],
    batch_size: int,
    *,
    alpha: float = 1.0,
    ratio: float = 1.0,
    hard: bool = False,
    add_noise: float = 0.0,
    mult_noise: float = 0.0,
    per_sample: bool = False,
    generator: torch.Generator | None = None,
) -> MixPlan:
    """Draw layer, partners, channels and lambda of one batch (paper algorithm 1).

    Args:
        sites: The set S, one layer is drawn uniformly.
        batch_size: N.
        alpha: Parameter of the Beta distribution of lambda, at least 0.
        ratio: Share of mixed channels, in [0, 1].
        hard: Swap the channels, lambda = 0.
        add_noise: Scale of the additive noise.
        mult_noise: Scale of the multiplicative noise.
        per_sample: Draw lambda, channels and noise strengths for each image.
        generator: Source of all draws, a CPU generator; None is PyTorch's global one.
    """
    site = sites[int(torch.randint(len(sites), (1,), generator=generator))]
    perm = torch.randperm(batch_size, generator=generator)
    rows = batch_size if per_sample else 1
    mixed = functional.num_mixed_channels(ratio, site.channels)
    # The first n places of a random order are a draw without replacement.
    order = torch.rand(rows, site.channels, generator=generator).argsort(dim=1)[:, :mixed]
    lam = draw_lambda(alpha, batch_size if per_sample else None, generator)
    return MixPlan(
        site=site,
        perm=perm,
        channels=order if per_sample else order[0],
        lam=lam * 0 if hard else lam,
        add_noise=add_noise,
        mult_noise=mult_noise,
        per_sample=per_sample,
        noise_seed=_draw_seed(generator),
    )


def mix_layer(x: Tensor, plan: MixPlan) -> Tensor:
    """Apply a plan to the output of its layer: mixing, then noise.

    Raises:
        RuntimeError: If the features are not those that the labels were mixed for.
    """
    site = plan.site
    size = plan.perm.numel()
    if x.ndim <= site.axis or x.shape[0] != size or x.shape[site.axis] != site.channels:
        raise RuntimeError(
            f"layer '{site.name}' gave features of shape {tuple(x.shape)}, but labels were mixed "
            f'for {size} images and {site.channels} channels at axis {site.axis}; choose another '
            'layer, or set channel_axis'
        )
    x = functional.mix_features(x, plan.perm, plan.channels, plan.lam, site.axis)
    if plan.add_noise or plan.mult_noise:
        generator = torch.Generator(x.device).manual_seed(plan.noise_seed)
        x = functional.inject_noise(
            x, plan.add_noise, plan.mult_noise, generator, per_sample=plan.per_sample
        )
    return x


def _draw_seed(generator: torch.Generator | None) -> int:
    return int(torch.randint(2**62, (1,), generator=generator))


def check_alpha(alpha: float) -> None:
    """Refuse anything but a number in [0, 1e6]: larger ones overflow, and mean lambda = 1/2."""
    functional.check_number('alpha', alpha)
    if not 0 <= alpha <= 1e6:
        raise ValueError(f'alpha must lie in [0, 1e6], got {alpha}')


def check_ratio(ratio: float) -> None:
    """Refuse a share outside [0, 1]."""
    functional.check_number('ratio', ratio)
    if not 0 <= ratio <= 1:
        raise ValueError(f'ratio must lie in [0, 1], got {ratio}')
