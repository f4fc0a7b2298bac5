"""Choose the layer whose features are explained."""

from __future__ import annotations

import torch
from mmengine.model import BaseModel
from torch import Tensor

from mmshufflemix.explain.network import OpenNetwork
from mmshufflemix.layers import LayerSite, feature_extractor, resolve_layers
from mmshufflemix.stages import stage_units

__all__ = ['find_site']

BACKBONE = 'backbone'


def find_site(model: BaseModel, inputs: Tensor, layer: str | int | None = None) -> LayerSite:
    """Find a layer that has features with positions.

    By default it is the last feature map that the classes depend on: what the backbone returns if
    that is a map, else the last of its stages or blocks. Where a class token is all that the head
    reads, the patches of the last block are without influence, so the block before is taken.

    Args:
        model: A classifier, held by :func:`~mmshufflemix.explain.network.still`.
        inputs: A preprocessed batch (N, C, H, W).
        layer: A number or name as in the ``layers`` of the augments, relative to the backbone or
            the model.

    Raises:
        TypeError: If the model does not give one score for each class.
        ValueError: If the layer is unknown or has no positions, or there is no default.
    """
    if layer is not None:
        site = resolve_layers(model, (layer,), inputs)[0]
        if site.is_input or site.before:
            raise ValueError(f"layer '{layer}' is no feature map; name a layer of the backbone")
        try:
            _reaches(model, site, inputs)
        except ValueError as error:
            raise ValueError(
                f"no heat map can be made of layer '{layer}': {error}; name another layer"
            ) from error
        return site
    fallback = None
    for name in _candidates(model):
        try:
            site = resolve_layers(model, (name,), inputs)[0]
        except ValueError:
            if name == BACKBONE:
                continue
            # The stage has several features or an unknown layout: an earlier one is no stand-in.
            break
        try:
            if _reaches(model, site, inputs):
                return site
        except ValueError:
            continue
        fallback = fallback or site
    if fallback is not None:
        return fallback
    raise ValueError(
        f'{type(feature_extractor(model)).__name__} has no single last feature map; name a layer, '
        'such as the last one before its positions are pooled'
    )


def _reaches(model: BaseModel, site: LayerSite, inputs: Tensor) -> bool:
    """Tell whether logits depend on any position of a layer."""
    network = OpenNetwork(model, site)
    kept: list[Tensor] = []
    network.tap.register_forward_hook(lambda module, args, output: kept.append(output))
    logits = network(inputs[:1].detach().requires_grad_())
    network.maps(kept[0])
    # Different weights, since scores can cancel out.
    weighted = logits @ torch.arange(1.0, logits.shape[1] + 1, device=logits.device)
    gradient = torch.autograd.grad(weighted.sum(), kept[0], allow_unused=True)[0]
    return gradient is not None and bool(network.maps(gradient).any())


def _candidates(model: BaseModel) -> list[str]:
    names = {id(module): name for name, module in model.named_modules()}
    units = [names[id(unit)] for unit in reversed(stage_units(feature_extractor(model)))]
    return [BACKBONE, *units] if hasattr(model, BACKBONE) else units
