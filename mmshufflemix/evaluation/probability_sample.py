"""Read probabilities and truth of one data sample, for metrics of probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from mmengine.evaluator import BaseMetric

from mmshufflemix.class_names import names_or_numbers
from mmshufflemix.evaluation.multi_label_sample import SampleCells, read_sample

__all__ = ['TASKS', 'ProbabilityMetric', 'read_probabilities']

TASKS = ('single-label', 'multi-label')
# Softmax in half precision adds up to 1 within this.
_SUM_TOLERANCE = 2e-2


class ProbabilityMetric(BaseMetric):
    """Base of metrics that need each image's probabilities and truth, as :class:`SampleCells`.

    Args:
        task: ``'single-label'`` for softmax scores and one class an image, ``'multi-label'`` for a
            probability of each class. Data samples do not tell the two apart.
        collect_device: ``'cpu'`` or ``'gpu'``, where the results of the processes are gathered.
        prefix: First part of the keys.

    Raises:
        ValueError: If the task is none of these.
    """

    def __init__(self, task: str, collect_device: str = 'cpu', prefix: str | None = None) -> None:
        super().__init__(collect_device=collect_device, prefix=prefix)
        if task not in TASKS:
            raise ValueError(f'task must be one of {", ".join(map(repr, TASKS))}, got {task!r}')
        self.task = task

    def read_batch(self, data_samples: Sequence[Mapping[str, Any]]) -> list[SampleCells]:
        """Read all samples of a batch, see :func:`read_probabilities`."""
        cells: list[SampleCells] = []
        for sample in data_samples:
            number = len(self.results) + len(cells)
            where = sample.get('img_path') or f'sample {number}'
            num_scores = torch.as_tensor(sample['pred_score']).numel()
            names = names_or_numbers(self.dataset_meta, num_scores)
            cells.append(read_probabilities(sample, where, names, self.task))
        return cells


def read_probabilities(
    sample: Mapping[str, Any], where: str, names: Sequence[str], task: str
) -> SampleCells:
    """Read a data sample as :func:`~mmshufflemix.evaluation.multi_label_sample.read_sample` does.

    Raises:
        ValueError: As there; also if a score is no probability, or in single-label data the scores
            do not add up to 1 or the truth is not one class.
    """
    cells = read_sample(sample, where, names)
    if ((cells.scores < 0) | (cells.scores > 1)).any():
        raise ValueError(
            f'pred_score of {where} has values from {cells.scores.min():g} to '
            f'{cells.scores.max():g}, expected probabilities from 0 to 1'
        )
    if task == 'single-label':
        total, labels = float(cells.scores.sum()), int(cells.targets.sum())
        if abs(total - 1) > _SUM_TOLERANCE or labels != 1:
            raise ValueError(
                f'{where} has {labels} labels and scores that add up to {total:g}, expected one '
                "label and a sum of 1; for data with several labels an image set task='multi-label'"
            )
    return SampleCells(cells.scores.astype(np.float64), cells.targets, cells.difficult)
