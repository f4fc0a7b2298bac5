"""Weigh the positives of rare classes up, by what the training set holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from mmengine import dist
from mmengine.hooks import Hook
from mmengine.runner import Runner
from mmpretrain.registry import HOOKS
from torch import nn

from mmshufflemix.class_names import require_classes
from mmshufflemix.datasets.training_labels import training_labels
from mmshufflemix.label_graph.statistics import count_labels
from mmshufflemix.text import align_table, some

__all__ = ['PosWeightHook', 'positive_weights']

_EXPECTED = "'auto', dict(type='auto', power=1.0, limit=100.0) or a list with a number a class"


@HOOKS.register_module()
class PosWeightHook(Hook):
    """Replaces ``pos_weight='auto'`` of a loss by numbers from the training set.

    For ``loss=dict(type='CrossEntropyLoss', use_sigmoid=True, pos_weight='auto')`` in any head:
    before training the positives of every class are counted in the labels that training sees, and
    :func:`positive_weights` are logged and put in place. ``pos_weight=dict(type='auto', power=0.5,
    limit=20)`` sets the arguments of that function. Nothing of it is in checkpoints: a resumed run
    counts again, testing and inference never use the loss.

    With a weight w the scores estimate w*p / (w*p + 1 - p) in place of the probability p: rankings
    and average precision mean the same, but 0.5 is no longer the threshold of even odds, and
    calibration is off by intent. The numbers are those of the labels as they are: batch augments
    that round mixed targets up and samplers that favour rare classes make positives more frequent
    than that.

    Raises:
        ValueError: If ``pos_weight`` is something else, the loss has no sigmoid, or the training
            set names no classes.
    """

    priority = 'HIGH'

    def before_train(self, runner: Runner) -> None:
        """Count and fill in, if a loss asks for it."""
        wanted = [
            (loss, rule)
            for loss in runner.model.modules()
            if (rule := _rule(getattr(loss, 'pos_weight', None))) is not None
        ]
        if not wanted:
            return
        for loss, _ in wanted:
            _check_sigmoid(loss)
        dataset = runner.train_dataloader.dataset
        classes = require_classes(dataset, "pos_weight='auto'")
        counts, _ = count_labels(training_labels(dataset), len(classes))
        for loss, rule in wanted:
            # Every rank has counted, and all take the numbers of the first.
            shared = [positive_weights(counts, len(dataset), **rule).tolist()]
            dist.broadcast_object_list(shared)
            loss.pos_weight = shared[0]
            runner.logger.info(_describe(classes, counts, len(dataset), shared[0]))
        if not counts.all():
            absent = [name for name, count in zip(classes, counts, strict=True) if not count]
            runner.logger.warning(
                f'{len(absent)} of {len(classes)} classes have no positive in the training set and '
                f'keep pos_weight 1: {some(absent)}.'
            )


def positive_weights(
    counts: np.ndarray, total: int, power: float = 1.0, limit: float = 100.0
) -> np.ndarray:
    """Return (negatives / positives)^power of every class, within 1/limit and limit.

    With power 1 and no clipping, positives and negatives of a class weigh the same in sum. A class
    without positives has the weight 1, which is never used; one without negatives has 1/limit.

    Args:
        counts: Positives of every class (K,).
        total: Number of images.
        power: From 0 (no weighting) to 1; 0.5 is halfway between them on a log scale.
        limit: Largest weight, at least 1.

    Raises:
        ValueError: If an argument is out of range.
    """
    if not 0 <= power <= 1:
        raise ValueError(f'power of pos_weight must be from 0 to 1, got {power!r}')
    if not 1 <= limit < float('inf'):
        raise ValueError(f'limit of pos_weight must be a number of at least 1, got {limit!r}')
    positives = np.asarray(counts, dtype=np.float64)
    ratio = np.divide(
        total - positives, positives, out=np.ones_like(positives), where=positives > 0
    )
    return np.clip(ratio**power, 1 / limit, limit)


def _rule(value: Any) -> dict[str, Any] | None:
    """Read ``pos_weight`` of a loss: the arguments of the rule, None where it has numbers."""
    if isinstance(value, str) and value == 'auto':
        return {}
    if isinstance(value, Mapping):
        rule = dict(value)
        if rule.pop('type', None) == 'auto' and rule.keys() <= {'power', 'limit'}:
            return rule
    if isinstance(value, str | Mapping):
        raise ValueError(f'pos_weight must be {_EXPECTED}, got {value!r}')
    return None


def _check_sigmoid(loss: nn.Module) -> None:
    if not getattr(loss, 'use_sigmoid', True):
        raise ValueError(
            f"{type(loss).__name__} ignores pos_weight='auto' without use_sigmoid=True; set it, or "
            'leave pos_weight out'
        )


def _describe(classes: Sequence[str], counts: np.ndarray, total: int, weights: list[float]) -> str:
    rows = [
        (name, str(count), f'{weight:.3f}')
        for name, count, weight in zip(classes, counts, weights, strict=True)
    ]
    table = align_table([('class', 'positives', 'pos_weight'), *rows])
    return f"pos_weight='auto' from the {total} images of the training set:\n{table}"
