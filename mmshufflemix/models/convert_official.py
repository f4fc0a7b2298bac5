"""Turn weights of the code released with the ShuffleMix paper into an MMPretrain checkpoint.

The released training script pickles the whole network, inside the mixing wrapper if there was one.
Such a file is read without importing or running anything it names: its classes are replaced by an
empty one that only holds their attributes. Files with a plain state dict are read too.
"""

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

__all__ = [
    'convert_file',
    'expected_weights',
    'find_differences',
    'read_official',
    'rename_official',
    'state_dict_of',
]

_CONTAINERS = ('state_dict', 'net', 'model')
_WRAPPERS = ('module.', 'model.')
_PICKLED_CLASSES = (
    'src.models.preact_resnet.PreActBlock',
    'src.models.preact_resnet.PreActBottleneck',
    'src.models.preact_resnet.PreActResNet',
    'src.shufflemix.ManifoldMixup',
    'src.shufflemix.ShuffleMix',
    'torch.nn.modules.batchnorm.BatchNorm2d',
    'torch.nn.modules.container.Sequential',
    'torch.nn.modules.conv.Conv2d',
    'torch.nn.modules.dropout.Dropout',
    'torch.nn.modules.linear.Linear',
)


class _PickledModule:
    """Stands in for every class of a pickled network; only attributes are restored."""


def _named_tensors(module: _PickledModule, prefix: str = '') -> dict[str, Any]:
    """Parameters and buffers by their dotted names, as in a state dict."""
    content = vars(module)
    own = {**content.get('_parameters', {}), **content.get('_buffers', {})}
    tensors = {prefix + name: value for name, value in own.items() if value is not None}
    for name, child in content.get('_modules', {}).items():
        if isinstance(child, _PickledModule):
            tensors.update(_named_tensors(child, f'{prefix}{name}.'))
    return tensors


def read_official(path: str | Path) -> dict[str, Tensor]:
    """Read the weights of a file that the released code wrote, without running code from it.

    Returns:
        Tensors by the authors' names, as in ``layer1.0.conv1.weight`` and ``linear.bias``.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is damaged, asks for anything but data, or holds no weights.
    """
    stand_ins: list[Any] = [(_PickledModule, name) for name in _PICKLED_CLASSES]
    with torch.serialization.safe_globals(stand_ins):
        content = load_checkpoint_file(path)
    try:
        return state_dict_of(content)
    except ValueError as error:
        raise ValueError(f"checkpoint '{path}' {error}") from error


def state_dict_of(content: Any) -> dict[str, Tensor]:
    """Find the state dict in what a file held, and take the wrappers' prefixes off its names.

    Args:
        content: A state dict, a pickled network, or a dict with one of them under 'state_dict',
            'net' or 'model'. Prefixes 'module.' and 'model.' go if every name has them.

    Raises:
        ValueError: If there is no state dict.
    """
    key = next((key for key in _CONTAINERS if isinstance(content, Mapping) and key in content), '')
    if key:
        return state_dict_of(content[key])
    weights = _named_tensors(content) if isinstance(content, _PickledModule) else content
    if not isinstance(weights, Mapping) or not weights:
        raise ValueError(
            f'holds no weights but {type(content).__name__}; give a state dict, on its own or '
            f'under one of the keys {", ".join(_CONTAINERS)}'
        )
    for name, value in weights.items():
        if not isinstance(name, str) or not isinstance(value, Tensor):
            raise ValueError(
                f'holds {type(value).__name__} under {name!r} where a named tensor was expected; '
                'give a file with the weights of a network'
            )
    while prefix := next((p for p in _WRAPPERS if all(n.startswith(p) for n in weights)), ''):
        weights = {name.removeprefix(prefix): value for name, value in weights.items()}
    return {name: value.detach() for name, value in weights.items()}


def rename_official(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Give weights MMPretrain's names: ``linear.*`` becomes ``head.fc.*``, the rest ``backbone.*``.

    Args:
        weights: Tensors by the authors' names.
    """
    renamed = {}
    for name, value in weights.items():
        part, _, rest = name.partition('.')
        renamed[f'head.fc.{rest}' if part == 'linear' else f'backbone.{name}'] = value
    return renamed


def expected_weights(depth: int, widen_factor: int, num_classes: int) -> dict[str, Tensor]:
    """State dict, with tensors on the meta device, of the classifier the weights are for."""
    with torch.device('meta'):
        backbone = dict(type='PreActResNet', depth=depth, widen_factor=widen_factor)
        width = MODELS.build(backbone).feat_dim
        head = dict(type='LinearClsHead', num_classes=num_classes, in_channels=width)
        neck = dict(type='GlobalAveragePooling')
        model = dict(type='ImageClassifier', backbone=backbone, neck=neck, head=head)
        return MODELS.build(model).state_dict()


def find_differences(weights: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> list[str]:
    """Describe every name that only one of two state dicts has, and every differing shape."""
    found = [f'missing from the file: {name}' for name in expected if name not in weights]
    found += [f'unknown to the model: {name}' for name in weights if name not in expected]
    for name in weights:
        if name in expected and weights[name].shape != expected[name].shape:
            shapes = tuple(weights[name].shape), tuple(expected[name].shape)
            found.append(f'of another shape: {name} has {shapes[0]}, the model {shapes[1]}')
    return found


def convert_file(
    source: str | Path,
    target: str | Path,
    depth: int = 18,
    widen_factor: int = 1,
    num_classes: int | None = None,
) -> dict[str, Any]:
    """Convert one file, and write nothing unless every entry matches; print what does not.

    Args:
        source: File of the released code.
        target: Checkpoint to write, for ``load_from`` or MMEngine's ``load_checkpoint``.
        depth: Depth of the network.
        widen_factor: Width of its stages.
        num_classes: Number of classes; None takes it from the file.

    Returns:
        The checkpoint: 'state_dict' and 'meta'.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the file cannot be read, its weights are not those of the network, or the
            target cannot be written.
    """
    check_writable(target)
    weights = rename_official(read_official(source))
    check_weights({'state_dict': weights})
    if num_classes is None:
        # Where there is no classifier, its absence is reported below, whatever the number.
        shape = weights['head.fc.weight'].shape if 'head.fc.weight' in weights else ()
        num_classes = shape[0] if shape else 10
    meta = dict(depth=depth, widen_factor=widen_factor, num_classes=num_classes)
    differences = find_differences(weights, expected_weights(**meta))
    if differences:
        print(*differences, sep='\n')
        raise ValueError(
            f"'{source}' does not hold a PreActResNet of depth {depth}, widen_factor "
            f'{widen_factor} and {num_classes} classes: {len(differences)} entries do not match, '
            f'the first {differences[0]}; give the values of the trained network.'
        )
    checkpoint = dict(state_dict=weights, meta=dict(converted_from=Path(source).name, **meta))
    write_checkpoint_file(target, checkpoint)
    return checkpoint
