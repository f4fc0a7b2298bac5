"""MMEngine's Runner with the fast path for small images."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from mmengine.hooks import Hook
from mmengine.logging import MessageHub
from mmengine.registry import RUNNERS
from mmengine.runner import Runner
from mmpretrain.models import ClsDataPreprocessor
from mmpretrain.registry import MODELS
from torch import nn
from torch.utils.data import DataLoader

from mmshufflemix.hooks.epoch_seed_hook import EpochSeedHook
from mmshufflemix.small_images.dataset import InMemoryImages, keep_batch
from mmshufflemix.small_images.history import GrowingHistories
from mmshufflemix.small_images.preprocessor import SmallImagePreprocessor

__all__ = ['SmallImageRunner', 'fast_loader', 'fast_model']

_OF_WORKERS = ('prefetch_factor', 'multiprocessing_context', 'timeout', 'worker_init_fn')


@RUNNERS.register_module()
class SmallImageRunner(Runner):
    """A Runner that holds small images in memory and transforms them in batches.

    Switched on by ``runner_type='SmallImageRunner'`` in any config of a classifier, with
    ``custom_imports`` of this package, or else by ``runner_type='mmshufflemix.SmallImageRunner'``.
    All else in the config stays as it is, and so does the config in the work folder.
    ``EpochSeedHook`` is added where the config has none: crops and flips are drawn in the main
    process, which MMEngine seeds alike on all ranks, and anew on a resume. See
    :class:`~mmshufflemix.small_images.InMemoryImages` for what data it takes.
    """

    @staticmethod
    def build_dataloader(
        dataloader: DataLoader | dict, seed: int | None = None, diff_rank_seed: bool = False
    ) -> DataLoader:
        """Build the data loader of :func:`fast_loader`."""
        if isinstance(dataloader, dict):
            dataloader = fast_loader(dataloader)
        return Runner.build_dataloader(dataloader, seed, diff_rank_seed)

    def build_model(self, model: nn.Module | dict) -> nn.Module:
        """Build the model of :func:`fast_model`."""
        return super().build_model(fast_model(model) if isinstance(model, dict) else model)

    def register_hooks(
        self,
        default_hooks: dict[str, Hook | dict] | None = None,
        custom_hooks: list[Hook | dict] | None = None,
    ) -> None:
        """Register hooks, and ``EpochSeedHook`` if it is not among them."""
        super().register_hooks(default_hooks, custom_hooks)
        if not any(isinstance(hook, EpochSeedHook) for hook in self.hooks):
            self.register_hook(EpochSeedHook())

    def build_message_hub(self, message_hub: dict | None = None) -> MessageHub:
        """Build a message hub whose scalars grow in place."""
        hub = super().build_message_hub(message_hub)
        hub._log_scalars = GrowingHistories(hub._log_scalars)
        return hub


def fast_loader(loader: dict[str, Any]) -> dict[str, Any]:
    """Put the dataset of a data loader config into memory; batches then need no workers."""
    loader = {key: value for key, value in loader.items() if key not in _OF_WORKERS}
    return {
        **deepcopy(loader),
        'dataset': {'type': InMemoryImages, 'dataset': deepcopy(loader['dataset'])},
        'num_workers': 0,
        'persistent_workers': False,
        'collate_fn': {'type': keep_batch},
    }


def fast_model(model: dict[str, Any]) -> dict[str, Any]:
    """Give a model config the data preprocessor of the fast path.

    Raises:
        ValueError: If it asks for another one than MMPretrain's ``ClsDataPreprocessor``.
    """
    settings = dict(model.get('data_preprocessor') or {})
    kind = settings.get('type', ClsDataPreprocessor)
    found = MODELS.get(kind) if isinstance(kind, str) else kind
    if found not in (ClsDataPreprocessor, SmallImagePreprocessor):
        raise ValueError(
            f'the fast path for small images does the work of ClsDataPreprocessor, and the model '
            f'has {kind!r}; leave runner_type out for this model'
        )
    return {**model, 'data_preprocessor': {**settings, 'type': SmallImagePreprocessor}}
