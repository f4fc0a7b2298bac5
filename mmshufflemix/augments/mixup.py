"""The relatives of ShuffleMix that mix all channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mmpretrain.registry import BATCH_AUGMENTS

from mmshufflemix.augments.base import MixAugment, refuse_unknown

__all__ = ['InputMixup', 'ManifoldMixup', 'NoisyFeatureMixup']


@BATCH_AUGMENTS.register_module()
class InputMixup(MixAugment):
    """Mixup of the input images, arXiv 1710.09412; ShuffleMix with S = {0} and r = 1.

    Args:
        alpha: Parameter of lambda ~ Beta(alpha, alpha), in [0, 1e6]; 0 means lambda = 1, no mixing.
        label_threshold: m in (0, 1]; mixed targets become 0/1 by ``>= m``.
        per_sample: Draw lambda for each image.
    """

    def __init__(
        self,
        alpha: float = 1.0,
        label_threshold: float | None = None,
        per_sample: bool = False,
        **unknown: Any,
    ) -> None:
        refuse_unknown(type(self), unknown)
        super().__init__(
            alpha=alpha, layers=[0], label_threshold=label_threshold, per_sample=per_sample
        )


@BATCH_AUGMENTS.register_module()
class ManifoldMixup(MixAugment):
    """Manifold Mixup, arXiv 1806.05236: all channels of one drawn layer; ShuffleMix with r = 1.

    Args:
        alpha: Parameter of lambda ~ Beta(alpha, alpha), in [0, 1e6]; 0 means lambda = 1, no mixing.
        layers: The set S: 'auto' (input and four stages), numbers or module names.
        label_threshold: m in (0, 1]; mixed targets become 0/1 by ``>= m``.
        per_sample: Draw lambda for each image.
        channel_axis: Axis of the channels at hidden layers, where it cannot be deduced.
    """

    def __init__(
        self,
        alpha: float = 1.0,
        layers: str | int | Sequence[int | str] = 'auto',
        label_threshold: float | None = None,
        per_sample: bool = False,
        channel_axis: int | None = None,
        **unknown: Any,
    ) -> None:
        refuse_unknown(type(self), unknown)
        super().__init__(
            alpha=alpha,
            layers=layers,
            label_threshold=label_threshold,
            per_sample=per_sample,
            channel_axis=channel_axis,
        )


@BATCH_AUGMENTS.register_module()
class NoisyFeatureMixup(MixAugment):
    """Noisy Feature Mixup (NFM), arXiv 2110.02180: Manifold Mixup, then noise on the same layer.

    The noise scales are those of the released scripts of NFM and ShuffleMix.

    Args:
        alpha: As in :class:`ManifoldMixup`.
        layers: As in :class:`ManifoldMixup`.
        label_threshold: As in :class:`ManifoldMixup`.
        per_sample: As in :class:`ManifoldMixup`, the noise strengths too.
        channel_axis: As in :class:`ManifoldMixup`.
        add_noise: Scale of the additive noise, at least 0.
        mult_noise: Scale of the multiplicative noise, at least 0.
    """

    def __init__(
        self,
        alpha: float = 1.0,
        layers: str | int | Sequence[int | str] = 'auto',
        label_threshold: float | None = None,
        per_sample: bool = False,
        channel_axis: int | None = None,
        add_noise: float = 0.4,
        mult_noise: float = 0.2,
        **unknown: Any,
    ) -> None:
        refuse_unknown(type(self), unknown)
        super().__init__(
            alpha=alpha,
            layers=layers,
            label_threshold=label_threshold,
            per_sample=per_sample,
            channel_axis=channel_axis,
            add_noise=add_noise,
            mult_noise=mult_noise,
        )
