"""Mixing of hidden layers: what ties a batch augment to the model that it trains.

One training step (see docs/design.md): the augment draws a plan and mixes the labels inside the
data preprocessor; the mixer, which watches preprocessor and model through hooks, takes the plan
over and mixes the drawn layer while the model computes its loss. A plan serves the forward passes
in ``mode='loss'`` that are given the labels mixed with it.
"""

from __future__ import annotations

import gc
from functools import partial
from typing import Any

import torch
from mmengine.logging import MMLogger
from mmengine.model import BaseModel
from torch import Tensor, nn
from torch.nn.modules.module import register_module_module_registration_hook

from mmshufflemix.layers import LayerSite, resolve_layers
from mmshufflemix.plan import MixPlan, mix_layer
from mmshufflemix.probe import find_feature, replace_feature

__all__ = ['HiddenMixer', 'attach', 'detach', 'install']

_ATTRIBUTE = 'hidden_mixer'
# Losses that weigh positives and negatives apart take soft targets without an error, but their
# value is then no average of the losses of the two images.
_HARD_TARGET_LOSSES = ('AsymmetricLoss', 'FocalLoss')


class HiddenMixer:
    """Mixes hidden layers of one model while it trains.

    Its hooks stay registered: adding or removing hooks between steps would go unnoticed by
    ``torch.compile``. They hold no parameters and leave the state dict as it is.

    Args:
        model: The model whose layers are mixed.
    """

    def __init__(self, model: BaseModel) -> None:
        self._model = model
        self._sites: dict[tuple, list[LayerSite]] = {}
        self._handles: dict[str, Any] = {}
        self._preprocessor_handles: list[Any] = []
        self._drop_plans()
        self._model_handles = [
            model.register_forward_pre_hook(self._before_forward, with_kwargs=True),
            model.register_forward_hook(self._after_forward, always_call=True),
        ]

    def __getstate__(self) -> dict[str, Any]:
        dropped = dict.fromkeys(('_pending', '_current', '_labelled'))
        return {**self.__dict__, **dropped, '_live': False}

    def watch(self, preprocessor: nn.Module) -> None:
        """Take the plans that the augments of a data preprocessor draw."""
        previous = preprocessor.__dict__.get(_ATTRIBUTE)
        if previous is not None:
            previous._unwatch()
        self._unwatch()
        preprocessor.__dict__[_ATTRIBUTE] = self
        self._preprocessor_handles = [
            preprocessor.register_forward_pre_hook(self._before_preprocessing),
            preprocessor.register_forward_hook(self._after_preprocessing, always_call=True),
        ]

    def remove(self) -> None:
        """Take all hooks off the model and its data preprocessor."""
        self._unwatch()
        for handle in [*self._model_handles, *self._handles.values()]:
            handle.remove()
        self._drop_plans()

    def sites(self, layers: Any, channel_axis: int | None, inputs: Tensor) -> list[LayerSite]:
        """Resolve the layers of an augment, once, and hook those that are hidden.

        Args:
            layers: Result of :func:`mmshufflemix.layers.check_layers`.
            channel_axis: Axis of the channels at hidden layers, None to deduce it.
            inputs: A preprocessed batch (N, C, H, W).
        """
        key = (layers, channel_axis)
        if key not in self._sites:
            sites = resolve_layers(self._model, layers, inputs, channel_axis)
            for site in sites:
                if not site.is_input and site.name not in self._handles:
                    self._hook(site)
            self._sites[key] = sites
            table = ', '.join(f'{s.name} ({s.channels} channels, axis {s.axis})' for s in sites)
            MMLogger.get_current_instance().info(f'Mixed layers: {table}')
        return self._sites[key]

    def warn_soft_targets(self) -> None:
        """Warn once if the loss is meant for 0/1 targets and the augment leaves them soft."""
        losses = {type(module).__name__ for module in self._model.modules()}
        for name in losses.intersection(_HARD_TARGET_LOSSES):
            MMLogger.get_current_instance().warning(
                f'{name} is defined for targets 0 and 1, but mixed targets are soft: '
                'set label_threshold in the batch augment.'
            )

    def _hook(self, site: LayerSite) -> None:
        module = self._model.get_submodule(site.name)
        if site.before:
            handle = module.register_forward_pre_hook(partial(self._on_input, site.name))
        else:
            handle = module.register_forward_hook(partial(self._on_output, site.name))
        self._handles[site.name] = handle
        # Frames compiled before this hook existed would not call it.
        torch.compiler.reset()

    def _unwatch(self) -> None:
        for handle in self._preprocessor_handles:
            handle.remove()
        self._preprocessor_handles = []

    def _drop_plans(self) -> None:
        self._pending: MixPlan | None = None
        self._current: MixPlan | None = None
        self._labelled: Any = None
        self._live = False
        self._fired = 0

    @torch.compiler.disable
    def _before_preprocessing(self, preprocessor: Any, args: tuple) -> None:
        unused = self._pending
        self._drop_plans()
        if unused is not None:
            raise RuntimeError(
                f"the labels of the last batch were mixed for layer '{unused.site.name}', but the "
                f"model {type(self._model).__name__} was never called in mode='loss' with it; call "
                'the model itself (not its loss method), or preprocess with training=False'
            )
        for augment in _augments(preprocessor):
            augment.mixer = self
            # MMPretrain does this for recipes it is built with; one switched on later would be
            # skipped without a word.
            preprocessor.to_onehot = True

    @torch.compiler.disable
    def _after_preprocessing(self, preprocessor: nn.Module, args: tuple, output: Any) -> None:
        for augment in _augments(preprocessor):
            plan = augment.take_plan()
            if plan is not None and output is not None:
                self._pending = plan
        _make_targets_float(output)

    @torch.compiler.disable
    def _before_forward(self, model: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
        mode = kwargs.get('mode', args[2] if len(args) > 2 else 'tensor')
        sample = _first(kwargs.get('data_samples', args[1] if len(args) > 1 else None))
        # Some optimizers pass a batch through the model twice; its labels are mixed both times.
        again = self._labelled is not None and sample is self._labelled
        self._live = mode == 'loss' and model.training and (self._pending is not None or again)
        if self._live and self._pending is not None:
            self._current, self._pending, self._labelled = self._pending, None, sample
        self._fired = 0

    @torch.compiler.disable
    def _after_forward(self, model: nn.Module, args: tuple, output: Any) -> None:
        live, self._live = self._live, False
        # After an error in the model there is no output, and that error is the one to report.
        if live and output is not None and self._fired != 1 and self._current is not None:
            raise RuntimeError(
                f"the labels were mixed for layer '{self._current.site.name}', but this layer ran "
                f'{self._fired} times in the forward pass; choose another layer'
            )

    @torch.compiler.disable
    def _on_output(self, name: str, module: nn.Module, args: tuple, output: Any) -> Any:
        return self._mix(name, output)

    @torch.compiler.disable
    def _on_input(self, name: str, module: nn.Module, args: tuple) -> Any:
        mixed = self._mix(name, args[0] if args else None)
        return None if mixed is None else (mixed, *args[1:])

    def _mix(self, name: str, features: Any) -> Any:
        plan = self._current
        if plan is None or plan.site.name != name or not (self._live or _in_backward()):
            return None
        found = find_feature(features, plan.perm.numel())
        if found is None:
            raise RuntimeError(
                f"layer '{name}' no longer gives a single feature tensor for the "
                f'{plan.perm.numel()} images whose labels were mixed; choose another layer'
            )
        self._fired += self._live
        position, tensor = found
        return replace_feature(features, position, mix_layer(tensor, plan))


def attach(model: BaseModel) -> HiddenMixer:
    """Bind a model, so that batch augments of this package can mix its hidden layers.

    Models built after ``import mmshufflemix`` and those that exist at its import are bound already.

    Args:
        model: A model with a ``data_preprocessor``.
    """
    if not isinstance(model, BaseModel):
        raise TypeError(f'a BaseModel of MMEngine is needed, got {type(model).__name__}')
    mixer = model.__dict__.get(_ATTRIBUTE)
    if mixer is None:
        mixer = model.__dict__[_ATTRIBUTE] = HiddenMixer(model)
        mixer.watch(model.data_preprocessor)
    return mixer


def detach(model: BaseModel) -> None:
    """Unbind a model: all hooks of this package are removed."""
    mixer = model.__dict__.pop(_ATTRIBUTE, None)
    if mixer is not None:
        mixer.remove()
        model.data_preprocessor.__dict__.pop(_ATTRIBUTE, None)


def install() -> None:
    """Bind every model from now on, and those that exist; called when the package is imported."""
    register_module_module_registration_hook(_on_registration)
    for candidate in gc.get_objects():
        # type() and not isinstance(), which may run code of lazy proxies; and the import may happen
        # while a model is half built.
        if issubclass(type(candidate), BaseModel):
            if 'data_preprocessor' in candidate.__dict__.get('_modules', ()):
                attach(candidate)


def _on_registration(parent: nn.Module, name: str, child: nn.Module | None) -> None:
    if name == 'data_preprocessor' and isinstance(parent, BaseModel) and child is not None:
        mixer = parent.__dict__.get(_ATTRIBUTE)
        if mixer is None:
            mixer = parent.__dict__[_ATTRIBUTE] = HiddenMixer(parent)
        mixer.watch(child)


def _augments(preprocessor: nn.Module) -> list[Any]:
    """Augments of this package in a preprocessor as it is now: recipes may be switched mid-run."""
    chosen = getattr(getattr(preprocessor, 'batch_augments', None), 'augments', None) or []
    return [augment for augment in chosen if hasattr(augment, 'take_plan')]


def _first(samples: Any) -> Any:
    """The first sample of a batch, which survives the wrappers that copy lists."""
    return samples[0] if isinstance(samples, list | tuple) and samples else None


def _make_targets_float(output: Any) -> None:
    """Let training go on when a recipe takes the augments away.

    MMPretrain's own one-hot labels are integers then, which its cross entropy refuses.
    """
    samples = output.get('data_samples') if isinstance(output, dict) else None
    for sample in samples or ():
        score = getattr(sample, 'gt_score', None)
        if isinstance(score, Tensor) and not score.is_floating_point():
            sample.set_gt_score(score.float())


def _in_backward() -> bool:
    """Whether autograd is running: a checkpointed forward is being recomputed."""
    return torch._C._current_graph_task_id() != -1
