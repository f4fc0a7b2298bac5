"""Refuse a training that would do nothing, or whose parts count different classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from mmengine import dist
from mmengine.hooks import Hook
from mmengine.model import BaseTTAModel, is_model_wrapper
from mmengine.runner import Runner
from mmpretrain.models.heads import MultiLabelClsHead
from mmpretrain.registry import HOOKS

from mmshufflemix.class_names import dataset_classes
from mmshufflemix.wrapped_datasets import dataset_parts

__all__ = ['TrainCheckHook', 'check_batches', 'check_topk', 'without_wrappers']


@HOOKS.register_module()
class TrainCheckHook(Hook):
    """Checks, before the first step, that data and model belong together.

    A last batch of one image, on which BatchNorm may fail at the end of the epoch, is warned about.

    Raises:
        ValueError: If an epoch has no batch, the numbers of classes of data set, data preprocessor
            and head differ, training and validation set have their classes in different orders, a
            metric looks at more classes than there are, or labels for a multi-label head are not
            distinct class ids, or all empty.
    """

    def before_train(self, runner: Runner) -> None:
        """Check everything once."""
        dataset = runner.train_dataloader.dataset
        check_batches(runner.train_dataloader)
        if _ends_with_one_image(runner.train_dataloader):
            runner.logger.warning(
                'the last batch of an epoch has one image, which BatchNorm may refuse and which '
                'has no other to be mixed with; set train_dataloader.drop_last=True.'
            )
        model = without_wrappers(runner.model)
        classes = dataset_classes(dataset)
        _check_numbers(model, len(classes))
        if isinstance(getattr(model, 'head', None), MultiLabelClsHead) and classes:
            _check_labels(dataset, len(classes))
        if runner.val_loop is not None:
            _check_order(classes, dataset_classes(runner.val_dataloader.dataset))
            check_topk(runner.val_loop, model, 'val_evaluator')


def check_batches(loader: Any) -> None:
    """Check that a data loader gives at least one batch.

    Raises:
        ValueError: If all images together do not fill the one that would not be dropped.
    """
    size = getattr(loader, 'batch_size', None)
    if not size or not getattr(loader, 'drop_last', False) or len(loader) > 0:
        return
    processes = dist.get_world_size()
    share = f', {len(loader.sampler)} for each of {processes} processes,' if processes > 1 else ''
    raise ValueError(
        f'an epoch has no batch: train_dataloader drops the last one unless it is full, and its '
        f'{len(loader.dataset)} images{share} do not fill one of {size}; lower '
        f'train_dataloader.batch_size to {len(loader.sampler)} or less, or set '
        'train_dataloader.drop_last=False.'
    )


def check_topk(loop: Any, model: Any, setting: str) -> None:
    """Check that no metric looks at the best k of fewer than k classes.

    Args:
        loop: Validates or tests.
        model: Its head says how many classes there are.
        setting: What the config calls the metrics.

    Raises:
        ValueError: If one does, which its ``topk`` would say at the end of all pictures.
    """
    num_classes = getattr(getattr(model, 'head', None), 'num_classes', None)
    for metric in getattr(getattr(loop, 'evaluator', None), 'metrics', ()):
        topk: Any = getattr(metric, 'topk', None)
        # With a threshold, MMPretrain's metrics for several labels do not look at it.
        if not num_classes or not topk or getattr(metric, 'thr', None) is not None:
            continue
        if np.max(topk) > num_classes:
            name, fitting = type(metric).__name__, (1,) if isinstance(topk, tuple) else 1
            raise ValueError(
                f'{setting} has {name} with topk={topk}, but the head has num_classes='
                f'{num_classes}; set {setting}=dict(type={name!r}, topk={fitting}).'
            )


def without_wrappers(model: Any) -> Any:
    """The model inside distributed training and test-time augmentation."""
    while is_model_wrapper(model) or isinstance(model, BaseTTAModel):
        model = model.module
    return model


def _check_numbers(model: Any, num_classes: int) -> None:
    head = getattr(model, 'head', None)
    in_head = getattr(head, 'num_classes', None)
    if in_head is None:
        return
    if num_classes and isinstance(head, MultiLabelClsHead) and in_head != num_classes:
        raise ValueError(
            f'the training set has {num_classes} classes but the head has num_classes={in_head}; '
            f'set model.head.num_classes and data_preprocessor.num_classes to {num_classes}; '
            'for the configs in configs/custom that is one line, num_classes at the top of '
            'configs/_base_/datasets/mine_json.py.'
        )
    preprocessor: Any = model.data_preprocessor
    if getattr(preprocessor, 'to_onehot', False) and preprocessor.num_classes != in_head:
        raise ValueError(
            f'the data preprocessor, which makes labels one-hot, has num_classes='
            f'{preprocessor.num_classes} but the head has num_classes={in_head}; '
            f'set data_preprocessor.num_classes={in_head}.'
        )


def _ends_with_one_image(loader: Any) -> bool:
    size = loader.batch_size or 1
    return size > 1 and not loader.drop_last and len(loader.sampler) % size == 1


def _check_labels(dataset: Any, num_classes: int) -> None:
    """Refuse labels that MMPretrain's data sets let through as other targets than were meant."""
    labelled = unlabelled = 0
    infos = (
        part.get_data_info(index)
        for part in dataset_parts(dataset)
        if hasattr(part, 'get_data_info')
        for index in range(len(part))
    )
    for info in infos:
        if info.get('gt_label') is None:
            return
        ids = np.atleast_1d(info['gt_label'])
        if ids.size and (
            ids.ndim != 1
            or not np.issubdtype(ids.dtype, np.integer)
            or not 0 <= ids.min() <= ids.max() < num_classes
            or len(np.unique(ids)) < ids.size
        ):
            raise ValueError(
                f'the labels of {info.get("img_path", "a training image")} are {ids.tolist()}, '
                f'expected distinct class ids 0..{num_classes - 1} (not one-hot); correct the '
                'annotations, or read them with MultiLabelJSON, VOCMultiLabel or COCOMultiLabel.'
            )
        labelled += ids.size > 0
        unlabelled += ids.size == 0
    if unlabelled and not labelled:
        raise ValueError(
            f'none of the {unlabelled} training images has a label; if the data set has classes of '
            'its own, name them with metainfo=dict(classes=(...)), since unknown ones may have '
            'been left out.'
        )


def _check_order(train: Sequence[str], val: Sequence[str]) -> None:
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
