"""Layer addressing: from 'auto', numbers and names to places in a model.

Number 0 is the network input, number k the k-th stage of the backbone. Names are dotted module
names relative to the backbone, or to the model ('neck', 'backbone.layer1'); 'head' is the input of
the head.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from torch import Tensor, nn

from mmshufflemix.probe import Feature, probe_modules
from mmshufflemix.stages import stage_units

__all__ = ['INPUT', 'LayerSite', 'check_layers', 'feature_extractor', 'resolve_layers']

INPUT = 'input'
HEAD = 'head'
NECK = 'neck'
_NUM_AUTO_STAGES = 4


@dataclass(frozen=True)
class LayerSite:
    """One place that can be mixed.

    Attributes:
        name: 'input', or the module's name relative to the model ('backbone.layer1').
        channels: C of its features.
        axis: Axis of C.
    """

    name: str
    channels: int
    axis: int

    @property
    def is_input(self) -> bool:
        """Whether this is the network input, which the batch augment mixes itself."""
        return self.name == INPUT

    @property
    def before(self) -> bool:
        """Whether the input of the module is meant, not its output."""
        return self.name == HEAD


def check_layers(layers: str | int | Sequence[int | str]) -> str | tuple[int | str, ...]:
    """Normalise the ``layers`` argument of an augment.

    Returns:
        'auto', or a non-empty tuple of numbers and names without repetitions.

    Raises:
        TypeError: If an entry is neither a number nor a name.
        ValueError: If the list is empty.
    """
    if isinstance(layers, str) and layers == 'auto':
        return layers
    entries: tuple[Any, ...] = (layers,)
    if isinstance(layers, Sequence) and not isinstance(layers, str):
        entries = tuple(layers)
    if not entries:
        raise ValueError(
            "layers must name at least one layer, got an empty list; try layers='auto'"
        )
    if 'auto' in entries:
        raise ValueError(
            f"'auto' stands alone: write layers='auto', or a list without it, got {entries}"
        )
    for entry in entries:
        if isinstance(entry, bool) or not isinstance(entry, int | str):
            raise TypeError(
                "layers must be 'auto' or a list of numbers and module names, "
                f'got {entry!r} of type {type(entry).__name__}'
            )
    return tuple(dict.fromkeys(0 if entry == INPUT else entry for entry in entries))


def resolve_layers(
    model: nn.Module,
    layers: str | tuple[int | str, ...],
    inputs: Tensor,
    channel_axis: int | None = None,
) -> list[LayerSite]:
    """Find the layers in a model, with the number and axis of their channels.

    Args:
        model: A classifier with a backbone.
        layers: Result of :func:`check_layers`.
        inputs: A preprocessed batch (N, C, H, W), used to run the model once on two images.
        channel_axis: Axis of the channels at every hidden layer; None deduces it.

    Raises:
        ValueError: If a layer is unknown or cannot be mixed; the message lists the choices.
    """
    input_site = LayerSite(INPUT, inputs.shape[1], 1)
    if layers == (0,):
        return [input_site]
    names = [entry for entry in layers if isinstance(entry, str)] if layers != 'auto' else []
    wanted = {name: _find_module(model, name) for name in names}
    stages: dict[str, nn.Module] = {}
    numbered = layers == 'auto' or any(isinstance(entry, int) and entry != 0 for entry in layers)
    if numbered:
        stages = _with_prefix(model, stage_units(feature_extractor(model)))
    modules = {**stages, **dict(wanted.values())}
    features = probe_modules(model, modules, inputs, before=(HEAD,))
    auto = _reduce([(name, features[name]) for name in stages]) if numbered else []
    if numbered and not auto:
        raise ValueError(
            f"{type(feature_extractor(model)).__name__} has no stages that layers='auto' or "
            f'numbers can mean; name the layers, for example from: {_choices(model)}'
        )
    chosen: dict[str, Feature | None] = {}
    for entry in range(len(auto) + 1) if layers == 'auto' else layers:
        if isinstance(entry, int):
            name = _numbered(entry, auto)
            chosen[name] = None if name == INPUT else features[name]
        else:
            name = wanted[entry][0]
            chosen[name] = features[name]
    return [
        input_site if feature is None else _site(model, name, feature, channel_axis, inputs)
        for name, feature in chosen.items()
    ]


def _site(
    model: nn.Module, name: str, feature: Feature, channel_axis: int | None, inputs: Tensor
) -> LayerSite:
    if feature.problem is not None:
        raise ValueError(
            f"layer '{name}' cannot be mixed, because {feature.problem}; "
            f'choose others, for example from: {_choices(model, without=name)}'
        )
    shape = feature.shape
    if channel_axis is None or len(shape) == 2:
        axis = _deduce_axis(shape, inputs.shape[2] / inputs.shape[3])
    elif -len(shape) <= channel_axis < len(shape) and channel_axis % len(shape):
        axis = channel_axis % len(shape)
    else:
        raise ValueError(
            f"channel_axis={channel_axis} is not a channel axis of layer '{name}', "
            f'whose features have {len(shape)} axes: {shape}'
        )
    if axis is None:
        raise ValueError(
            f"the channel axis of layer '{name}' cannot be deduced from features of shape {shape}; "
            f'set channel_axis, or choose others, for example from: {_choices(model)}'
        )
    return LayerSite(name, shape[axis], axis)


def _deduce_axis(shape: tuple[int, ...], aspect: float) -> int | None:
    """Axis of C: 1 for (N, C) and (N, C, H, W), the last for tokens (N, L, C) and (N, H, W, C).

    Args:
        shape: Shape of the features.
        aspect: H / W of the images; of the two layouts of maps, the one nearer to it is meant.
    """
    if len(shape) == 4:
        _, a, b, c = shape
        first, last = (abs(math.log(ratio / aspect)) for ratio in (b / c, a / b))
        return 3 if last < first else 1
    return {2: 1, 3: 2}.get(len(shape))


def _reduce(units: list[tuple[str, Feature]]) -> list[str]:
    """Four stages at most; none if a unit cannot be mixed, since the rest are not the stages.

    Of more units: the last of each resolution, or quarter depths if there is one resolution.
    """
    if any(feature.problem for _, feature in units):
        return []
    names = [name for name, _ in units]
    if len(names) <= _NUM_AUTO_STAGES:
        return names
    groups = [[name for name, _ in g] for _, g in groupby(units, lambda unit: unit[1].spatial)]
    if len(groups) > 1:
        return [group[-1] for group in groups][-_NUM_AUTO_STAGES:]
    quarters = (len(names) * k / _NUM_AUTO_STAGES for k in range(1, _NUM_AUTO_STAGES + 1))
    return [names[math.ceil(depth) - 1] for depth in quarters]


def _numbered(entry: int, auto: list[str]) -> str:
    if not -len(auto) <= entry <= len(auto):
        raise ValueError(
            f'layer {entry} does not exist: this backbone has the layers 0 (input) to {len(auto)} '
            f'({", ".join(auto)})'
        )
    return INPUT if entry == 0 else auto[entry - 1 if entry > 0 else entry]


def _find_module(model: nn.Module, name: str) -> tuple[str, nn.Module]:
    """Full name and module of a name relative to the backbone or to the model."""
    if name.startswith(f'{HEAD}.'):
        raise ValueError(
            f"layer '{name}' lies inside the head, where the first axis need not be the batch; "
            f"use '{HEAD}' for the input of the head"
        )
    backbone = feature_extractor(model)
    prefix = next((n for n, module in model.named_modules() if module is backbone), '')
    candidates = [f'{prefix}.{name}' if prefix else name, name]
    if name in (HEAD, NECK):  # timm's backbones have a head of their own
        candidates.reverse()
    for full_name in candidates:
        try:
            module = model.get_submodule(full_name)
        except AttributeError:
            continue
        return full_name, module
    raise ValueError(f"unknown layer '{name}'; choose for example from: {_choices(model)}")


def feature_extractor(model: nn.Module) -> nn.Module:
    """The feature extractor: MMPretrain's ``backbone``, or the model that a wrapper holds."""
    backbone = getattr(model, 'backbone', None) or getattr(model, 'model', None) or model
    return getattr(backbone, 'timm_model', backbone)


def _with_prefix(model: nn.Module, units: Iterable[nn.Module]) -> dict[str, nn.Module]:
    names = {id(module): name for name, module in model.named_modules()}
    return {names[id(module)]: module for module in units}


def _choices(model: nn.Module, limit: int = 30, without: str = '') -> str:
    """Names a user may choose from, the modules of the backbone first; not the refused one."""
    backbone = feature_extractor(model)
    names = [name for name, _ in backbone.named_modules() if name and name.count('.') <= 1]
    names.sort(key=lambda name: name.count('.'))
    names = [name for name in names if name != without and not without.endswith(f'.{name}')]
    tail = [name for name in (NECK, HEAD) if getattr(model, name, None) is not None]
    return ', '.join([INPUT, *names[:limit], *(['...'] if len(names) > limit else []), *tail])
