"""What the batch augments share: one draw a batch, labels mixed here, features where drawn."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from mmshufflemix import functional
from mmshufflemix.layers import INPUT, LayerSite, check_layers
from mmshufflemix.near_names import unknown_arguments
from mmshufflemix.plan import MixPlan, check_alpha, check_ratio, draw_plan, mix_layer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mmshufflemix.mixer import HiddenMixer

__all__ = ['MixAugment', 'refuse_unknown']

_MODES = ('soft', 'hard')


class MixAugment:
    """Base of the batch augments: mixes a layer drawn from a set, and the labels to match.

    Args:
        alpha: Parameter of lambda ~ Beta(alpha, alpha), in [0, 1e6]; 0 means lambda = 1.
        ratio: Share of mixed channels, in [0, 1].
        mode: 'soft' interpolates the channels, 'hard' swaps them (lambda = 0).
        layers: 'auto' for the input and the four stages, or numbers (0 = input, 1..n = stages,
            negative from the end) and module names.
        label_threshold: m in (0, 1]; mixed targets become 0/1 by ``>= m``, None leaves them soft.
        per_sample: Draw lambda, channels and noise strengths for each image.
        channel_axis: Axis of the channels at hidden layers; None deduces it from the features.
        add_noise: Scale of additive noise after mixing, at least 0.
        mult_noise: Scale of multiplicative noise after mixing, at least 0.
    """

    def __init__(
        self,
        *,
        alpha: float,
        ratio: float = 1.0,
        mode: str = 'soft',
        layers: str | int | Sequence[int | str] = 'auto',
        label_threshold: float | None = None,
        per_sample: bool = False,
        channel_axis: int | None = None,
        add_noise: float = 0.0,
        mult_noise: float = 0.0,
    ) -> None:
        check_alpha(alpha)
        check_ratio(ratio)
        if mode not in _MODES:
            raise ValueError(f"mode must be 'soft' or 'hard', got {mode!r}")
        functional.check_noise('add_noise', add_noise)
        functional.check_noise('mult_noise', mult_noise)
        if isinstance(channel_axis, bool) or not isinstance(channel_axis, int | None):
            raise TypeError(f'channel_axis must be an integer or None, got {channel_axis!r}')
        if label_threshold is not None:
            functional.check_label_threshold(label_threshold)
        self.layers = check_layers(layers)
        self.label_threshold = label_threshold
        self.channel_axis = channel_axis
        self._draws: dict[str, Any] = {
            'alpha': float(alpha),
            'ratio': float(ratio),
            'hard': mode == 'hard',
            'per_sample': bool(per_sample),
            'add_noise': float(add_noise),
            'mult_noise': float(mult_noise),
        }
        # Lent by the mixer while the data preprocessor runs; never part of copies.
        self.mixer: HiddenMixer | None = None
        self._plan: MixPlan | None = None
        self._warned = False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, 'mixer': None, '_plan': None}

    @torch.compiler.disable
    def __call__(self, batch_inputs: Tensor, batch_score: Tensor) -> tuple[Tensor, Tensor]:
        """Draw a plan, mix the labels, and the images if the input layer was drawn.

        Args:
            batch_inputs: Preprocessed images (N, C, H, W).
            batch_score: One-hot or multi-hot targets (N, K) in [0, 1].

        Returns:
            Images and float targets; neither argument is written.

        Raises:
            ValueError: If the targets are not (N, K) with values in [0, 1].
            RuntimeError: If a hidden layer is asked for and no model is bound.
        """
        self._plan = None
        _check_targets(batch_score, len(batch_inputs))
        plan = draw_plan(self._sites(batch_inputs), len(batch_inputs), **self._draws)
        targets = functional.mix_targets(batch_score, plan.perm, plan.label_weight)
        if self.label_threshold is not None:
            targets = functional.threshold_targets(targets, self.label_threshold)
        elif self.mixer is not None and not self._warned:
            self.mixer.warn_soft_targets()
            self._warned = True
        if plan.site.is_input:
            return mix_layer(batch_inputs, plan), targets
        self._plan = plan
        return batch_inputs, targets

    def take_plan(self) -> MixPlan | None:
        """Hand over the plan of a hidden layer, if one was drawn, and let go of the mixer."""
        plan, self._plan, self.mixer = self._plan, None, None
        return plan

    def _sites(self, inputs: Tensor) -> list[LayerSite]:
        if self.layers == (0,):
            return [LayerSite(INPUT, inputs.shape[1], 1)]
        if self.mixer is None:
            raise RuntimeError(
                f'{type(self).__name__} is to mix hidden layers, but is not used by the data '
                'preprocessor of a bound model; put it into train_cfg.augments of the model, call '
                'mmshufflemix.attach(model), or set layers=[0] to mix images only'
            )
        return self.mixer.sites(self.layers, self.channel_axis, inputs, type(self).__name__)


def refuse_unknown(augment: type[MixAugment], unknown: dict[str, Any]) -> None:
    """Refuse arguments that an augment does not have, and say where an old one has moved."""
    name = augment.__name__
    if 'num_classes' in unknown:
        raise ValueError(
            f'{name} takes no num_classes: it moved to the data preprocessor, set '
            'data_preprocessor=dict(num_classes=...) at the top of the config'
        )
    if 'prob' in unknown:
        raise ValueError(
            f'{name} takes no prob: set model.train_cfg.probs, one number for each augment'
        )
    if unknown:
        # The base has arguments that not every augment takes: its own signature counts.
        parameters = inspect.signature(augment).parameters.values()
        known = [item.name for item in parameters if item.kind is not item.VAR_KEYWORD]
        raise TypeError(unknown_arguments(name, unknown, known))


def _check_targets(scores: Tensor, batch_size: int) -> None:
    if scores.ndim != 2 or len(scores) != batch_size:
        raise ValueError(
            f'targets of {batch_size} images must have the shape ({batch_size}, classes), '
            f'got {tuple(scores.shape)}'
        )
    # On a GPU the check would wait for the device each step; the datasets check labels as well.
    if scores.device.type == 'cpu' and scores.numel():
        rounding = 1e-6
        wrong = ((scores < -rounding) | (scores > 1 + rounding) | scores.isnan()).nonzero()
        if len(wrong):
            row, column = wrong[0].tolist()
            raise ValueError(
                f'targets must lie in [0, 1], but image {row} of the batch has '
                f'{scores[row, column].item():g} for class {column}; a label may be listed twice '
                'or be out of range'
            )
