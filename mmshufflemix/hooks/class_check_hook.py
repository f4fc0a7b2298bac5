"""Refuse a checkpoint of other classes or of another model, warn of other preprocessing."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from mmengine.hooks import Hook
from mmengine.logging import print_log
from mmengine.runner import Runner
from mmpretrain.registry import HOOKS
from torch import nn

from mmshufflemix.checkpoint_content import checkpoint_classes
from mmshufflemix.text import some
from mmshufflemix.trained_config import warn_of_other_preprocessing

__all__ = ['ClassCheckHook', 'compare_classes', 'missing_weights']

_SETS = {'train': 'training set', 'val': 'validation set', 'test': 'test set'}


def compare_classes(trained: Sequence[str], found: Sequence[str], name: str = 'test set') -> str:
    """Compare the class names of a checkpoint with those of a data set.

    Args:
        trained: Classes of the checkpoint.
        found: Classes of the data set.
        name: What messages call the data set.

    Returns:
        A warning if the names differ, an empty string if they are equal.

    Raises:
        ValueError: If their number differs, or the same names come in another order.
    """
    trained, found = list(trained), list(found)
    if len(trained) != len(found):
        raise ValueError(
            f'the checkpoint was trained on {len(trained)} classes ({some(trained, limit=3)}) and '
            f'the {name} has {len(found)} ({some(found, limit=3)}); '
            'use the checkpoint of this data set.'
        )
    if trained == found:
        return ''
    different = [index for index in range(len(found)) if trained[index] != found[index]]
    first = different[0]
    where = f'class {first} is {trained[first]!r} in the checkpoint, {found[first]!r} in the data'
    if sorted(trained) == sorted(found):
        raise ValueError(
            f'the checkpoint and the {name} have the same classes in another order ({where}); '
            'set metainfo=dict(classes=...) of the data set to the order of training.'
        )
    return f'{len(different)} of {len(found)} class names differ: {where}.'


def missing_weights(model: nn.Module, state_dict: Mapping[str, Any]) -> list[str]:
    """Name the parameters of a model that a checkpoint does not bring."""
    known = {str(name).removeprefix('module.') for name in state_dict}
    # Distributed training and test-time augmentation wrap the model.
    names = (name.removeprefix('module.') for name, _ in model.named_parameters())
    return [name for name in names if name not in known]


@HOOKS.register_module()
class ClassCheckHook(Hook):
    """Checks that a checkpoint to test or to resume is one of this data set and this model.

    Args:
        split: 'test'; 'val' where the validation set stands in the place of the test set; or
            'train' where training is resumed.
    """

    # Before ResumeCheckHook, which has less to say about a checkpoint of another model.
    priority = 'ABOVE_NORMAL'

    def __init__(self, split: str = 'test') -> None:
        self.split = split

    def after_load_checkpoint(self, runner: Runner, checkpoint: dict[str, Any]) -> None:
        """Refuse or warn, see :func:`compare_classes`.

        Raises:
            ValueError: If classes differ in number or order, or weights are missing.
        """
        resuming = self.split == 'train'
        loader = runner.train_dataloader if resuming else runner.test_dataloader
        trained = checkpoint_classes(checkpoint)
        found = (getattr(loader.dataset, 'metainfo', None) or {}).get('classes')
        if trained and found:
            warning = compare_classes(trained, found, _SETS[self.split])
            if warning:
                print_log(warning, logger='current', level=logging.WARNING)
        missing = missing_weights(runner.model, checkpoint.get('state_dict', checkpoint))
        if missing:
            raise ValueError(
                f'the checkpoint lacks {len(missing)} weights of this model '
                f'({some(missing, limit=3)}), so another config has written it; use the '
                'checkpoint of this config'
                f'{", or another --work-dir" if resuming else ""}.'
            )
        warn_of_other_preprocessing(checkpoint, runner.cfg)
