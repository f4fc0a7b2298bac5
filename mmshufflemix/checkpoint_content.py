"""What a checkpoint holds, which anybody may have written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

__all__ = ['check_weights', 'checkpoint_classes', 'plain_weights']


def check_weights(checkpoint: Any) -> None:
    """Check that a checkpoint is a dict, whose ``state_dict``, if any, holds named, plain tensors.

    Raises:
        ValueError: Naming what it holds else.
    """
    weights = checkpoint.get('state_dict', {}) if isinstance(checkpoint, Mapping) else None
    if not isinstance(weights, Mapping):
        raise ValueError('the checkpoint holds no weights; give a .pth file that training wrote.')
    for name, value in weights.items():
        # What a module keeps beside its tensors is up to the module.
        if isinstance(name, str) and (name.endswith('_extra_state') or _is_plain(value)):
            continue
        raise ValueError(
            f'the weights in the checkpoint have an entry {name!r} of type {type(value).__name__} '
            'that is no plain tensor with a name; give a .pth file that training wrote.'
        )


def checkpoint_classes(checkpoint: Any) -> Sequence[str] | None:
    """Return the class names in the metadata of a checkpoint, or None if there are none.

    Raises:
        ValueError: If they are no list of names.
    """
    found = checkpoint
    for key in ('meta', 'dataset_meta', 'classes'):
        found = found.get(key) if isinstance(found, Mapping) else None
    if not found:
        return None
    if not isinstance(found, list | tuple) or not all(isinstance(n, str | int) for n in found):
        raise ValueError(
            f'the class names in the checkpoint are no list of names but {found!r:.80}; use a '
            'checkpoint that training wrote.'
        )
    # A torn letter, which a pickle may hold, could be written nowhere.
    return [str(name).encode(errors='backslashreplace').decode() for name in found]


def plain_weights(state_dict: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of weights under the names in the model alone, not in its wrapper."""
    return {str(name).removeprefix('module.'): value for name, value in state_dict.items()}


def _is_plain(value: Any) -> bool:
    return (
        isinstance(value, Tensor)
        and value.layout == torch.strided
        and not value.is_quantized
        and not value.is_meta
    )
