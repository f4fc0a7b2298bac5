"""The methods whose boundaries are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mmshufflemix.text import some

__all__ = ['DEFAULT_METHODS', 'METHODS', 'Method', 'choose_methods']


@dataclass(frozen=True)
class Method:
    """How a network is trained.

    Attributes:
        title: Name in table and figure.
        augment: Config of a batch augment.
        dropout: Probability with which a feature is zeroed before the last layer.
        weight_decay: Factor of the squared weights' gradient.
    """

    title: str
    augment: Mapping[str, Any] | None = None
    dropout: float = 0.0
    weight_decay: float = 0.0


# Settings of arXiv 2305.18684. The augments keep their defaults: S is the input and all hidden
# layers.
METHODS: dict[str, Method] = {
    'baseline': Method('Baseline'),
    'weight_decay': Method('Weight decay', weight_decay=5e-4),
    'dropout': Method('Dropout', dropout=0.2),
    'input_mixup': Method('Input Mixup', {'type': 'InputMixup'}),
    'manifold_mixup': Method('Manifold Mixup', {'type': 'ManifoldMixup'}),
    'shufflemix': Method('ShuffleMix', {'type': 'ShuffleMix'}),
    'shufflemix_hard': Method('ShuffleMix, hard', {'type': 'ShuffleMix', 'mode': 'hard'}),
    'nfm': Method('NFM', {'type': 'NoisyFeatureMixup'}),
    'shufflemix_nfm': Method('ShuffleMix-NFM', {'type': 'ShuffleMixNFM'}),
}
# Those of the paper's figure.
DEFAULT_METHODS = tuple(METHODS)[:6]


def choose_methods(names: Iterable[str]) -> dict[str, Method]:
    """Look methods up by name; repetitions count once, the order is kept.

    Raises:
        ValueError: If a name is unknown or none is given.
    """
    names = list(dict.fromkeys(names))
    unknown = [name for name in names if name not in METHODS]
    if unknown or not names:
        got = f'got {some(unknown)}' if unknown else 'got none'
        raise ValueError(f'methods must be among {", ".join(METHODS)}; {got}')
    return {name: METHODS[name] for name in names}
