"""A classifier as a function from its input to logits, with one layer laid open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from mmengine.model import BaseModel
from torch import Tensor, nn

from mmshufflemix.explain.layout import extra_tokens, feature_maps
from mmshufflemix.layers import LayerSite
from mmshufflemix.probe import find_feature, replace_feature

__all__ = ['OpenNetwork', 'still']


class OpenNetwork(nn.Module):
    """Logits of a model, whose features at one layer pass through the module ``tap``.

    The model is no part of this module, so that ``eval`` or ``zero_grad`` called here do not reach
    it. Hidden layers are never mixed: mixing is for ``mode='loss'``.

    Args:
        model: A classifier.
        site: Where the features are taken.
    """

    def __init__(self, model: BaseModel, site: LayerSite) -> None:
        super().__init__()
        self._model = (model,)
        self.site = site
        self.tap = nn.Identity()
        self.extra = extra_tokens(model)
        self.batch_size, self.size = 0, (0, 0)
        # Where to compute is read off a parameter.
        self.anchor = nn.Parameter(torch.empty(0, device=next(model.parameters()).device))

    def forward(self, inputs: Tensor) -> Tensor:
        """Logits (N, K) of preprocessed images (N, C, H, W).

        Raises:
            TypeError: If the model gives something else.
            ValueError: If the layer gives something else than one tensor.
        """
        model = self._model[0]
        self.batch_size, self.size = len(inputs), (inputs.shape[2], inputs.shape[3])
        handle = model.get_submodule(self.site.name).register_forward_hook(self._pass)
        try:
            logits = model(inputs, mode='tensor')
        finally:
            handle.remove()
        if not isinstance(logits, Tensor) or logits.ndim != 2:
            raise TypeError(
                f'the head {type(getattr(model, "head", None)).__name__} does not give one score '
                'for each class, so there is nothing to explain'
            )
        return logits

    def maps(self, feature: Tensor) -> Tensor:
        """Features at the layer as maps (N, C, H, W).

        Raises:
            ValueError: If their layout is unknown.
        """
        return feature_maps(feature, self.site.axis, self.size, self.extra)

    def _pass(self, module: nn.Module, args: Any, output: Any) -> Any:
        found = find_feature(output, self.batch_size)
        if found is None:
            raise ValueError('its output is not a single feature tensor with a batch axis')
        position, feature = found
        return replace_feature(output, position, self.tap(feature))


@contextmanager
def still(model: nn.Module) -> Iterator[None]:
    """Hold a model in evaluation mode, with gradients for features but for no parameter.

    Training flags and ``requires_grad`` are as before afterwards, ``grad`` is never touched.
    """
    flags = [(module, module.training) for module in model.modules()]
    wanted = [(parameter, parameter.requires_grad) for parameter in model.parameters()]
    training = any(flag for _, flag in flags)
    try:
        if training:
            model.eval()
        for parameter, _ in wanted:
            parameter.requires_grad_(False)
        with torch.enable_grad():
            yield
    finally:
        if training:
            # Some modules do more in it, such as dropping what they keep for evaluation.
            model.train(flags[0][1])
        for module, flag in flags:
            module.training = flag
        for parameter, flag in wanted:
            parameter.requires_grad_(flag)
