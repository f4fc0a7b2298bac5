"""Refuse a training that would do nothing, or whose parts count different classes."""

from __future__ import annotations

from typing import Any

from mmengine.hooks import Hook
from mmengine.model import is_model_wrapper
from mmengine.runner import Runner
from mmpretrain.models.heads import MultiLabelClsHead
from mmpretrain.registry import HOOKS

__all__ = ['TrainCheckHook']


@HOOKS.register_module()
class TrainCheckHook(Hook):
    """Checks, before the first step, that data and model belong together.

    Raises:
        ValueError: If an epoch has no batch, the numbers of classes of data set, data preprocessor
            and head differ, or training and validation set have their classes in different orders.
    """

    def before_train(self, runner: Runner) -> None:
        """Check everything once."""
        dataset = runner.train_dataloader.dataset
        if runner.max_iters == 0 < runner.max_epochs:
            raise ValueError(
                f'an epoch has no batch: train_dataloader drops the last one unless it is full, '
                f'and its {len(dataset)} images do not fill one of '
                f'{runner.train_dataloader.batch_size}; lower train_dataloader.batch_size.'
            )
        model = runner.model.module if is_model_wrapper(runner.model) else runner.model
        classes = _classes(dataset)
        _check_numbers(model, len(classes))
        if runner.val_loop is not None:
            _check_order(classes, _classes(runner.val_dataloader.dataset))


def _classes(dataset: Any) -> list[str]:
    return list((getattr(dataset, 'metainfo', None) or {}).get('classes') or ())


def _check_numbers(model: Any, num_classes: int) -> None:
    head = getattr(model, 'head', None)
    in_head = getattr(head, 'num_classes', None)
    if in_head is None:
        return
    if num_classes and isinstance(head, MultiLabelClsHead) and in_head != num_classes:
        raise ValueError(
            f'the training set has {num_classes} classes but the head has num_classes={in_head}; '
            f'set model.head.num_classes and data_preprocessor.num_classes to {num_classes}.'
        )
    preprocessor: Any = model.data_preprocessor
    if getattr(preprocessor, 'to_onehot', False) and preprocessor.num_classes != in_head:
        raise ValueError(
            f'the data preprocessor, which makes labels one-hot, has num_classes='
            f'{preprocessor.num_classes} but the head has num_classes={in_head}; '
            f'set data_preprocessor.num_classes={in_head}.'
        )


def _check_order(train: list[str], val: list[str]) -> None:
    if not train or not val or train == val:
        return
    if len(train) != len(val):
        raise ValueError(
            f'the training set has {len(train)} classes but the validation set has {len(val)}; '
            'set metainfo=dict(classes=(...)) of both data sets to the same names.'
        )
    if sorted(train) == sorted(val):
        raise ValueError(
            'training and validation set have the same classes in another order, '
            f'starting with {train[0]!r} and {val[0]!r}; '
            'set metainfo=dict(classes=(...)) of both data sets to the same names.'
        )
