"""ShuffleMix, plain and with noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mmpretrain.registry import BATCH_AUGMENTS

from mmshufflemix.augments.base import MixAugment, refuse_unknown

__all__ = ['ShuffleMix', 'ShuffleMixNFM']


@BATCH_AUGMENTS.register_module()
class ShuffleMix(MixAugment):
    """ShuffleMix, arXiv 2305.18684: channel-wise shuffle of interpolated hidden states.

    A share ``ratio`` of the channels of one layer, drawn anew for each batch, is interpolated with
    (soft) or replaced by (hard) the channels of another image. Targets are weighted by the channels
    really mixed (equation 5).

    Args:
        alpha: Parameter of lambda ~ Beta(alpha, alpha), in [0, 1e6]; 0 means lambda = 1, so that
            mode 'soft' mixes nothing. Mode 'hard' does not use it.
        ratio: Share of mixed channels, in [0, 1]; 1 is Manifold Mixup, 0 mixes nothing.
        mode: 'soft' interpolates, 'hard' swaps (lambda = 0).
        layers: The set S: 'auto' (input and four stages), numbers or module names.
        label_threshold: m in (0, 1]; mixed targets become 0/1 by ``>= m``. For multi-label training
            the paper uses 0.1 to 0.5.
        per_sample: Draw lambda and channels for each image.
        channel_axis: Axis of the channels at hidden layers, where it cannot be deduced.

    Example:
        >>> model = dict(train_cfg=dict(augments=dict(type='mmshufflemix.ShuffleMix', ratio=0.5)))
    """

    def __init__(
        self,
        alpha: float = 1.0,
        ratio: float = 0.5,
        mode: str = 'soft',
        layers: str | int | Sequence[int | str] = 'auto',
        label_threshold: float | None = None,
        per_sample: bool = False,
        channel_axis: int | None = None,
        **unknown: Any,
    ) -> None:
        refuse_unknown(type(self), unknown)
        super().__init__(
            alpha=alpha,
            ratio=ratio,
            mode=mode,
            layers=layers,
            label_threshold=label_threshold,
            per_sample=per_sample,
            channel_axis=channel_axis,
        )


@BATCH_AUGMENTS.register_module()
class ShuffleMixNFM(MixAugment):
    """ShuffleMix followed by the noise of Noisy Feature Mixup (arXiv 2305.18684, table 7).

    The noise scales are those of the released scripts; the paper's text has them exchanged.

    Args:
        alpha: As in :class:`ShuffleMix`.
        ratio: As in :class:`ShuffleMix`.
        mode: As in :class:`ShuffleMix`.
        layers: As in :class:`ShuffleMix`.
        label_threshold: As in :class:`ShuffleMix`.
        per_sample: As in :class:`ShuffleMix`, the noise strengths too.
        channel_axis: As in :class:`ShuffleMix`.
        add_noise: Scale of the additive noise, at least 0.
        mult_noise: Scale of the multiplicative noise, at least 0.
    """

    def __init__(
        self,
        alpha: float = 1.0,
        ratio: float = 0.5,
        mode: str = 'soft',
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
            ratio=ratio,
            mode=mode,
            layers=layers,
            label_threshold=label_threshold,
            per_sample=per_sample,
            channel_axis=channel_axis,
            add_noise=add_noise,
            mult_noise=mult_noise,
        )
