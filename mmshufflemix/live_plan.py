"""The plan in force in a model, and the layer hooks that apply it."""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.utils.hooks import RemovableHandle

from mmshufflemix.layers import LayerSite
from mmshufflemix.plan import MixPlan, mix_layer
from mmshufflemix.probe import find_feature, replace_feature

__all__ = ['LivePlan']


class LivePlan:
    """What the layer hooks of one model share.

    The hooks hold this object and not the mixer, so that a part of the model can be copied or saved
    without the rest. Copies start without a plan and without a model.

    Args:
        model: The model whose layers are hooked; held weakly.

    Attributes:
        plan: The last plan in force. It outlives the forward pass, for parts that are recomputed in
            the backward pass.
        live: Whether a forward pass in ``mode='loss'`` is running that the plan is for.
        fired: How often the drawn layer was mixed in this pass.
    """

    def __init__(self, model: nn.Module | None = None) -> None:
        self._model = None if model is None else weakref.ref(model)
        self.plan: MixPlan | None = None
        self.live = False
        self.fired = 0

    def __reduce__(self) -> tuple[type[LivePlan], tuple[()]]:
        return LivePlan, ()

    def bind(self, model: nn.Module) -> None:
        """Serve a model, after a copy."""
        self._model = weakref.ref(model)

    def hook(self, site: LayerSite, module: nn.Module) -> RemovableHandle:
        """Register the hook of a hidden layer."""
        if site.before:
            return module.register_forward_pre_hook(partial(_on_input, self, site.name))
        return module.register_forward_hook(partial(_on_output, self, site.name))

    def apply(self, name: str, features: Any) -> Any:
        """Mix the features of a layer if it is the drawn one, else return None.

        Raises:
            RuntimeError: If the features are not those that the labels were mixed for.
        """
        plan = self.plan
        if plan is None or plan.site.name != name or not (self._is_live() or _in_backward()):
            return None
        found = find_feature(features, plan.perm.numel())
        if found is None:
            raise RuntimeError(
                f"layer '{name}' no longer gives a single feature tensor for the "
                f'{plan.perm.numel()} images whose labels were mixed; choose another layer'
            )
        self.fired += self.live
        position, tensor = found
        return replace_feature(features, position, mix_layer(tensor, plan))

    def _is_live(self) -> bool:
        # A forward pass that is interrupted from the keyboard ends without its hooks, so ``live``
        # alone could reach into evaluation.
        model = self._model() if self._model is not None else None
        return self.live and model is not None and model.training


@torch.compiler.disable
def _on_output(live: LivePlan, name: str, module: nn.Module, args: tuple, output: Any) -> Any:
    return live.apply(name, output)


@torch.compiler.disable
def _on_input(live: LivePlan, name: str, module: nn.Module, args: tuple) -> Any:
    mixed = live.apply(name, args[0] if args else None)
    return None if mixed is None else (mixed, *args[1:])


def _in_backward() -> bool:
    """Whether autograd is running: a checkpointed forward is being recomputed."""
    return torch._C._current_graph_task_id() != -1
