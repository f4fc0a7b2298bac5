"""The measure of a robustness study: quick top-1 accuracy, or whatever the config evaluates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from mmengine.evaluator import Evaluator
from mmpretrain.evaluation import Accuracy
from mmpretrain.models import ImageClassifier
from mmpretrain.models.heads import ClsHead
from torch import Tensor, nn

from mmshufflemix.robustness.batches import Batch
from mmshufflemix.text import some

__all__ = ['TOP_ONE', 'EvaluatorMetric', 'Metric', 'TopOne', 'choose_metric']

TOP_ONE = 'accuracy/top1'


class Metric(Protocol):
    """Collects what it needs of each batch, and turns all of it into one number."""

    def collect(self, model: nn.Module, images: Tensor, batch: Batch) -> Any:
        """Run the model on images that replace those of a batch."""

    def finish(self, collected: Sequence[Any]) -> float:
        """Evaluate what was collected from all batches."""

    @property
    def name(self) -> str:
        """Name of the number, known after the first :meth:`finish`."""


class TopOne:
    """Top-1 accuracy in percent from the scores alone, without a data sample for each image."""

    name = TOP_ONE

    def collect(self, model: nn.Module, images: Tensor, batch: Batch) -> Tensor:
        """Return for each image whether its label has the highest score."""
        return model(images, mode='tensor').argmax(dim=1) == batch.labels

    def finish(self, collected: Sequence[Tensor]) -> float:
        """Return the share of hits in percent."""
        hits = torch.cat(list(collected))
        return 100 * int(hits.sum()) / len(hits)


class EvaluatorMetric:
    """One of the numbers of the config's test evaluator.

    Args:
        evaluator: The evaluator, its ``dataset_meta`` set.
        name: Key of the number; the first one by default.
    """

    def __init__(self, evaluator: Evaluator, name: str | None = None) -> None:
        self._evaluator = evaluator
        self._name = name

    @property
    def name(self) -> str:
        """Key of the number."""
        return self._name or ''

    def collect(self, model: nn.Module, images: Tensor, batch: Batch) -> list[dict[str, Any]]:
        """Return the predictions as the evaluator takes them."""
        # The model writes its predictions into the batch's samples, and the next level does again.
        return [sample.to_dict() for sample in model(images, batch.samples, mode='predict')]

    def finish(self, collected: Sequence[list[dict[str, Any]]]) -> float:
        """Evaluate all predictions.

        Raises:
            ValueError: If the evaluator has no number of that name.
        """
        for predictions in collected:
            self._evaluator.process(predictions, None)
        numbers = self._evaluator.evaluate(sum(map(len, collected)))
        if self._name is None:
            self._name = next(iter(numbers))
        if self._name not in numbers:
            raise ValueError(
                f'the test evaluator has no {self._name!r}; choose one of {some(numbers)}'
            )
        return float(numbers[self._name])


def choose_metric(model: nn.Module, evaluator: Evaluator, name: str | None = None) -> Metric:
    """Take the quick measure where it is surely what the config evaluates, else its evaluator.

    Args:
        model: The classifier.
        evaluator: The config's test evaluator.
        name: Key of one of its numbers; the first one by default.
    """
    first = evaluator.metrics[0]
    if (
        name in (None, TOP_ONE)
        and type(first) is Accuracy
        and (first.prefix, first.thrs) == ('accuracy', (0.0,))
        and (first.topk[0] == 1 or (name == TOP_ONE and 1 in first.topk))
        and type(model) is ImageClassifier
        and isinstance(model.head, ClsHead)
        # Of their own, these could score otherwise than the plain forward pass.
        and type(model.head).predict is ClsHead.predict
        and type(model.head)._get_predictions is ClsHead._get_predictions
    ):
        return TopOne()
    return EvaluatorMetric(evaluator, name)
