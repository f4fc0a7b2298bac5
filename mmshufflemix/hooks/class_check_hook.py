"""Refuse to test a checkpoint on data with other classes."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from mmengine.hooks import Hook
from mmengine.logging import print_log
from mmengine.runner import Runner
from mmpretrain.registry import HOOKS

__all__ = ['ClassCheckHook', 'compare_classes']


def compare_classes(trained: Sequence[str], tested: Sequence[str]) -> str:
    """Compare the class names of a checkpoint with those of a test set.

    Returns:
        A warning if the names differ, an empty string if they are equal.

    Raises:
        ValueError: If their number differs, or the same names come in another order.
    """
    trained, tested = list(trained), list(tested)
    if len(trained) != len(tested):
        raise ValueError(
            f'the checkpoint was trained on {len(trained)} classes ({_some(trained)}) and the test '
            f'set has {len(tested)} ({_some(tested)}); use the checkpoint of this data set.'
        )
    if trained == tested:
        return ''
    different = [index for index in range(len(tested)) if trained[index] != tested[index]]
    first = different[0]
    where = f'class {first} is {trained[first]!r} in the checkpoint, {tested[first]!r} in the data'
    if sorted(trained) == sorted(tested):
        raise ValueError(
            f'the checkpoint and the test set have the same classes in another order ({where}); '
            'set metainfo=dict(classes=...) of the data set to the order of training.'
        )
    return f'{len(different)} of {len(tested)} class names differ: {where}.'


def _some(names: Sequence[str]) -> str:
    return ', '.join(names[:3]) + (', ...' if len(names) > 3 else '')


@HOOKS.register_module()
class ClassCheckHook(Hook):
    """Compares the classes of a loaded checkpoint with the test set's, before testing."""

    def after_load_checkpoint(self, runner: Runner, checkpoint: dict[str, Any]) -> None:
        """Refuse or warn, see :func:`compare_classes`."""
        trained = (checkpoint.get('meta', {}).get('dataset_meta') or {}).get('classes')
        tested = (getattr(runner.test_dataloader.dataset, 'metainfo', None) or {}).get('classes')
        if trained and tested:
            warning = compare_classes(trained, tested)
            if warning:
                print_log(warning, logger='current', level=logging.WARNING)
