"""Refuse a checkpoint of other classes or of another model, warn of other preprocessing."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from mmengine.hooks import Hook
from mmengine.logging import print_log
from mmengine.runner import Runner
from mmpretrain.registry import HOOKS
from torch import Tensor, nn

from mmshufflemix.checkpoint_content import checkpoint_classes, plain_weights
from mmshufflemix.class_names import dataset_classes
from mmshufflemix.hooks.train_check_hook import check_topk, without_wrappers
from mmshufflemix.text import some
from mmshufflemix.trained_config import warn_of_other_preprocessing

__all__ = ['ClassCheckHook', 'check_fit', 'compare_classes']

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


def check_fit(model: nn.Module, state_dict: Mapping[str, Any], advice: str = '') -> None:
    """Check that weights are those of a model, which MMEngine only warns of, or not even that.

    Args:
        model: May be wrapped by distributed training and by test-time augmentation.
        state_dict: Weights of a checkpoint.
        advice: What else could be done than to use another checkpoint.

    Raises:
        ValueError: If weights are missing, or have other shapes.
    """
    advice = f'so another config has written it; use the checkpoint of this config{advice}.'
    model = without_wrappers(model)
    weights = plain_weights(state_dict)
    missing = [name for name, _ in model.named_parameters() if name not in weights]
    if missing:
        raise ValueError(
            f'the checkpoint lacks {len(missing)} weights of this model ({some(missing, limit=3)}),'
            f' {advice}'
        )
    # Transformers fit tables of positions to another picture size in here.
    for prefix, module in model.named_modules():
        for fit in module._load_state_dict_pre_hooks.values():
            fit(weights, f'{prefix}.' if prefix else '', {}, False, [], [], [])
    other = [
        f'{name} {tuple(weights[name].shape)} for {tuple(value.shape)}'
        for name, value in model.state_dict().items()
        if isinstance(value, Tensor)
        and isinstance(weights.get(name), Tensor)
        and weights[name].shape != value.shape
    ]
    if other:
        raise ValueError(
            f'{len(other)} weights of the checkpoint have other shapes than in this model '
            f'({some(other, limit=3)}), {advice}'
        )


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
            ValueError: If classes differ in number or order, or weights are missing or have other
                shapes.
        """
        resuming = self.split == 'train'
        loader = runner.train_dataloader if resuming else runner.test_dataloader
        trained = checkpoint_classes(checkpoint)
        found = dataset_classes(loader.dataset)
        if trained and found:
            warning = compare_classes(trained, found, _SETS[self.split])
            if warning:
                print_log(warning, logger='current', level=logging.WARNING)
        weights = checkpoint.get('state_dict', checkpoint)
        check_fit(runner.model, weights, ', or another --work-dir' if resuming else '')
        warn_of_other_preprocessing(checkpoint, runner.cfg)

    def before_test(self, runner: Runner) -> None:
        """Check the metrics, see :func:`~mmshufflemix.hooks.train_check_hook.check_topk`."""
        check_topk(runner.test_loop, without_wrappers(runner.model), f'{self.split}_evaluator')
