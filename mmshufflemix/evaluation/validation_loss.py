"""Loss on the validation images, from the scores that validation computes anyway."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from mmengine.logging import MessageHub
from mmpretrain.registry import METRICS

from mmshufflemix.evaluation.multi_label_sample import SampleCells
from mmshufflemix.evaluation.probability_sample import ProbabilityMetric

__all__ = ['ValidationLoss', 'log_loss']

# Between a float32 probability that rounds to 1 and the next one below.
_LEAST_COMPLEMENT = 2.0**-24
_LEAST_PROBABILITY = float(np.finfo(np.float32).tiny)


@METRICS.register_module()
class ValidationLoss(ProbabilityMetric):
    """Plain cross entropy of the predicted probabilities, the mean over images, as ``val/loss``.

    For single-label data this is -log p of the true class. For multi-label data it is binary cross
    entropy, the sum over an image's classes, without difficult cells. With ``loss_weight`` of the
    training loss that is the number MMPretrain's ``CrossEntropyLoss`` gives for whole batches, of
    unmixed targets and without ``pos_weight``, ``class_weight`` and label smoothing. The forward
    pass of the validation is used, so it costs nothing and changes no prediction.

    Scores are probabilities already. In float32 a negative of the logit z has the loss within a
    share of exp(z) * 2^-24, 0.1 % up to z = 9, and at most 16.6 (24 log 2), a positive at most 87.3
    (where the score leaves the range of normal numbers). Scores of half precision are coarser.

    ``save_best='val/loss'`` looks for the lowest.

    Args:
        task: See :class:`~mmshufflemix.evaluation.probability_sample.ProbabilityMetric`.
        loss_weight: Factor, that of the training loss for curves of one scale.
        collect_device: As there.
        prefix: Replaces ``val`` in the key.

    Raises:
        ValueError: If the task is unknown or a sample cannot be used.
    """

    default_prefix = 'val'

    def __init__(
        self,
        task: str,
        loss_weight: float = 1.0,
        collect_device: str = 'cpu',
        prefix: str | None = None,
    ) -> None:
        super().__init__(task, collect_device, prefix)
        self.loss_weight = loss_weight

    def process(self, data_batch: Any, data_samples: Sequence[dict]) -> None:
        """Keep the loss of each image of a batch."""
        if not self.results:
            self._forget_last()
        cells = self.read_batch(data_samples)
        self.results.extend(log_loss(sample, self.task) for sample in cells)

    def compute_metrics(self, results: list[float]) -> dict[str, float]:
        """Average the losses of all images."""
        if not results:
            raise ValueError('no sample was evaluated; expected at least one in the data loader')
        return {'loss': float(self.loss_weight * np.mean(results))}

    def _forget_last(self) -> None:
        # MMEngine's log smooths every value with 'loss' in its name over the last ten, which is
        # meant for training steps; with nothing older to be found it shows the value itself.
        scalars = MessageHub.get_current_instance().log_scalars
        for mode in ('val', 'test'):
            scalars.pop(f'{mode}/{self.prefix}/loss', None)


def log_loss(sample: SampleCells, task: str) -> float:
    """Cross entropy of one image, see :class:`ValidationLoss`.

    Args:
        sample: Probabilities (K,) and truth.
        task: ``'single-label'`` or ``'multi-label'``.
    """
    positives = -np.log(np.maximum(sample.scores, _LEAST_PROBABILITY))
    if task == 'single-label':
        return float(positives[sample.targets].sum())
    negatives = -np.log(np.maximum(1 - sample.scores, _LEAST_COMPLEMENT))
    losses = np.where(sample.targets, positives, negatives)
    return float(losses.sum(where=True if sample.difficult is None else ~sample.difficult))
