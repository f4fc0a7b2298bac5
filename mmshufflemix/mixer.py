"""Mixing of hidden layers: what ties a batch augment to the model that it trains.

One training step (see docs/design.md): the augment draws a plan and mixes the labels inside the
data preprocessor; the mixer, which watches preprocessor and model through hooks, takes the plan
over and puts it in force while the model computes its loss. A plan serves the forward passes in
``mode='loss'`` that are given the labels mixed with it.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any

import torch
from mmengine.logging import MMLogger
from mmengine.model import BaseModel
from mmengine.structures import BaseDataElement
from torch import Tensor, nn
from torch.nn.modules.module import register_module_module_registration_hook

from mmshufflemix.layers import LayerSite, resolve_layers
from mmshufflemix.live_plan import LivePlan
from mmshufflemix.plan import MixPlan

__all__ = ['HiddenMixer', 'attach', 'detach', 'install']

_ATTRIBUTE = 'hidden_mixer'
# Losses that weigh positives and negatives apart take soft targets without an error, but their
# value is then no average of the losses of the two images.
_HARD_TARGET_LOSSES = ('AsymmetricLoss', 'FocalLoss')
# First sample of a batch whose labels were mixed for a hidden layer, and who has to mix that layer.
_OWNERS: weakref.WeakKeyDictionary[Any, weakref.ref[HiddenMixer]] = weakref.WeakKeyDictionary()


class HiddenMixer:
    """Mixes hidden layers of one model while it trains.

    Its hooks stay registered: adding or removing hooks between steps would go unnoticed by
    ``torch.compile``. They hold no parameters and leave the state dict as it is.

    Args:
        model: The model whose layers are mixed; held weakly.

    Attributes:
        layers: What the layer hooks share.
    """

    def __init__(self, model: BaseModel) -> None:
        self._model = weakref.ref(model)
        self.layers = LivePlan(model)
        self._pending: MixPlan | None = None
        self._sites: dict[tuple, list[LayerSite]] = {}
        self._handles: dict[str, Any] = {}
        self._preprocessor_handles: list[Any] = []
        self._model_handles = [
            model.register_forward_pre_hook(self._before_forward, with_kwargs=True),
            model.register_forward_hook(self._after_forward, always_call=True),
        ]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, '_model': self.model, '_pending': None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _model=weakref.ref(state['_model']))
        self.layers.bind(state['_model'])

    @property
    def model(self) -> BaseModel:
        """The model whose layers are mixed."""
        model = self._model()
        if model is None:
            raise RuntimeError(
                'the model that this data preprocessor belonged to no longer exists; build the '
                'preprocessor anew for another model'
            )
        return model

    def watch(self, preprocessor: nn.Module) -> None:
        """Take the plans that the augments of a data preprocessor draw."""
        previous = preprocessor.__dict__.get(_ATTRIBUTE)
        if previous is not None:
            previous._unwatch()
        self._unwatch()
        preprocessor.__dict__[_ATTRIBUTE] = self
        self._preprocessor_handles = [
            preprocessor.register_forward_pre_hook(self._before_preprocessing),
            preprocessor.register_forward_hook(
                self._after_preprocessing, with_kwargs=True, always_call=True
            ),
        ]

    def remove(self) -> None:
        """Take all hooks off the model and its data preprocessor."""
        self._unwatch()
        for handle in [*self._model_handles, *self._handles.values()]:
            handle.remove()
        self._drop_plans()

    def sites(
        self, layers: Any, channel_axis: int | None, inputs: Tensor, user: str
    ) -> list[LayerSite]:
        """Resolve the layers of an augment, once, and hook those that are hidden.

        Args:
            layers: Result of :func:`mmshufflemix.layers.check_layers`.
            channel_axis: Axis of the channels at hidden layers, None to deduce it.
            inputs: A preprocessed batch (N, C, H, W).
            user: Name of the augment, for the log.
        """
        key = (layers, channel_axis)
        if key not in self._sites:
            sites = resolve_layers(self.model, layers, inputs, channel_axis)
            for site in sites:
                if not site.is_input and site.name not in self._handles:
                    module = self.model.get_submodule(site.name)
                    self._handles[site.name] = self.layers.hook(site, module)
                    # Frames compiled before this hook existed would not call it.
                    torch.compiler.reset()
            self._sites[key] = sites
            table = ', '.join(f'{s.name} ({s.channels} channels, axis {s.axis})' for s in sites)
            MMLogger.get_current_instance().info(f'Mixed layers: {table} (by {user})')
        return self._sites[key]

    def warn_soft_targets(self) -> None:
        """Warn once if the loss is meant for 0/1 targets and the augment leaves them soft."""
        losses = {type(module).__name__ for module in self.model.modules()}
        for name in losses.intersection(_HARD_TARGET_LOSSES):
            MMLogger.get_current_instance().warning(
                f'{name} is defined for targets 0 and 1, but mixed targets are soft: '
                'set label_threshold in the batch augment.'
            )

    def _unwatch(self) -> None:
        for handle in self._preprocessor_handles:
            handle.remove()
        self._preprocessor_handles = []

    def _drop_plans(self) -> None:
        self._pending = self.layers.plan = None
        self.layers.live = False

    @torch.compiler.disable
    def _before_preprocessing(self, preprocessor: Any, args: tuple) -> None:
        unused = self._pending
        self._drop_plans()
        if unused is not None:
            raise RuntimeError(
                f"the labels of the last batch were mixed for layer '{unused.site.name}', but the "
                f'model {type(self.model).__name__} was never called with it in training mode and '
                "mode='loss'; call the model itself (not its loss method), or preprocess with "
                'training=False'
            )
        for augment in _augments(preprocessor):
            augment.mixer = self
            # MMPretrain does this for recipes it is built with; one switched on later would be
            # skipped without a word.
            preprocessor.to_onehot = True

    @torch.compiler.disable
    def _after_preprocessing(
        self, preprocessor: nn.Module, args: tuple, kwargs: dict[str, Any], output: Any
    ) -> None:
        augments = _augments(preprocessor)
        plans = [augment.take_plan() for augment in augments]
        samples = output.get('data_samples') if isinstance(output, dict) else None
        training = kwargs.get('training', args[1] if len(args) > 1 else False)
        first = _first(samples)
        if first is None:
            return
        if augments and training and 'gt_score' not in first:
            raise ValueError(
                f'{type(augments[0]).__name__} needs labels to mix, but the first '
                f'{type(first).__name__} of the batch has neither gt_label nor gt_score (is it '
                'multi-task or unlabelled?); take the augment out of train_cfg.augments'
            )
        _OWNERS.pop(first, None)
        self._pending = next((plan for plan in plans if plan is not None), None)
        if self._pending is not None:
            _OWNERS[first] = weakref.ref(self)
        _make_targets_float(samples)

    @torch.compiler.disable
    def _before_forward(self, model: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
        layers = self.layers
        layers.live, layers.fired = False, 0
        mode = kwargs.get('mode', args[2] if len(args) > 2 else 'tensor')
        first = _first(kwargs.get('data_samples', args[1] if len(args) > 1 else None))
        if mode != 'loss' or not model.training or first not in _OWNERS:
            return
        owner = _OWNERS[first]()
        if owner is self and (self._pending or layers.plan):
            # Some optimizers pass a batch through the model twice; its labels are mixed both times.
            layers.plan, self._pending = self._pending or layers.plan, None
            layers.live = True
        else:
            raise RuntimeError(
                'the labels of this batch were mixed for a hidden layer of another model, or of an '
                f'earlier step, but {type(model).__name__} is to learn from them; give each model '
                'batches from its own data preprocessor'
            )

    @torch.compiler.disable
    def _after_forward(self, model: nn.Module, args: tuple, output: Any) -> None:
        layers = self.layers
        live, layers.live = layers.live, False
        # After an error in the model there is no output, and that error is the one to report.
        if live and output is not None and layers.fired != 1 and layers.plan is not None:
            raise RuntimeError(
                f"the labels were mixed for layer '{layers.plan.site.name}', but this layer ran "
                f'{layers.fired} times in the forward pass; choose another layer'
            )


def attach(model: BaseModel) -> HiddenMixer:
    """Bind a model, so that batch augments of this package can mix its hidden layers.

    Models built after ``import mmshufflemix`` and those that exist at its import are bound already.

    Args:
        model: A model with a ``data_preprocessor``.
    """
    if not isinstance(model, BaseModel):
        raise TypeError(f'a BaseModel of MMEngine is needed, got {type(model).__name__}')
    if _ATTRIBUTE not in model.__dict__:
        _bind(model, model.data_preprocessor)
    return model.__dict__[_ATTRIBUTE]


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
        _bind(parent, child)


def _bind(model: BaseModel, preprocessor: nn.Module) -> None:
    if _ATTRIBUTE not in model.__dict__:
        model.__dict__[_ATTRIBUTE] = HiddenMixer(model)
    model.__dict__[_ATTRIBUTE].watch(preprocessor)


def _augments(preprocessor: nn.Module) -> list[Any]:
    """Augments of this package in a preprocessor as it is now: recipes may be switched mid-run."""
    chosen = getattr(getattr(preprocessor, 'batch_augments', None), 'augments', None) or []
    return [augment for augment in chosen if hasattr(augment, 'take_plan')]


def _first(samples: Any) -> BaseDataElement | None:
    """The first sample of a batch, if it is of the kind that a classifier gets."""
    first = samples[0] if isinstance(samples, list | tuple) and samples else None
    return first if isinstance(first, BaseDataElement) else None


def _make_targets_float(samples: Any) -> None:
    """Let training go on when a recipe takes the augments away.

    MMPretrain's own one-hot labels are integers then, which its cross entropy refuses.
    """
    for sample in samples:
        score = getattr(sample, 'gt_score', None)
        if isinstance(score, Tensor) and not score.is_floating_point():
            sample.set_gt_score(score.float())
