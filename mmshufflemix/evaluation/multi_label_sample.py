"""Read scores and labels of one data sample for the multi-label metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

__all__ = ['SampleCells', 'read_sample', 'stack_samples']


@dataclass(frozen=True)
class SampleCells:
    """One image's scores, targets and difficult cells, each of shape (K,).

    ``difficult`` is None where the sample says nothing about difficult objects.
    """

    scores: np.ndarray
    targets: np.ndarray
    difficult: np.ndarray | None


def read_sample(sample: Mapping[str, Any], where: str, names: Sequence[str]) -> SampleCells:
    """Read a data sample without changing it.

    The truth is ``gt_label`` (class ids). A ``gt_score`` may be mixed or smoothed and is only read
    where there is no ``gt_label``. A class listed in ``gt_label_difficult`` is difficult unless it
    is in the truth too.

    Args:
        sample: With ``pred_score`` (K,), ``gt_label`` or ``gt_score``, and perhaps
            ``gt_label_difficult``.
        where: What to call the sample in an error.
        names: The K class names.

    Raises:
        ValueError: If a shape is not the expected one, a score is NaN, ids are repeated or out of
            range, or the truth is missing or not 0/1.
    """
    num_classes = len(names)
    scores = _read_scores(sample['pred_score'], f'pred_score of {where}', num_classes)
    broken = np.flatnonzero(np.isnan(scores))
    if len(broken):
        raise ValueError(
            f'{len(broken)} of {num_classes} scores of {where} are NaN, the first one of class '
            f'{names[broken[0]]}; expected numbers, look for a diverged training or a broken input'
        )
    if 'gt_label' in sample:
        targets = _read_ids(sample['gt_label'], f'gt_label of {where}', num_classes)
    elif 'gt_score' in sample:
        soft = _read_scores(sample['gt_score'], f'gt_score of {where}', num_classes)
        targets = soft == 1
        if not (targets | (soft == 0)).all():
            raise ValueError(
                f'gt_score of {where} has values other than 0 and 1, such as mixed or smoothed '
                'targets, and there is no gt_label; expected gt_label to hold the true class ids'
            )
    else:
        raise ValueError(f'{where} has neither gt_label nor gt_score; expected gt_label, class ids')
    difficult = None
    if sample.get('gt_label_difficult') is not None:
        what = f'gt_label_difficult of {where}'
        difficult = _read_ids(sample['gt_label_difficult'], what, num_classes) & ~targets
    return SampleCells(scores, targets, difficult)


def stack_samples(
    samples: Sequence[SampleCells],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Put N samples, at least one, into arrays of scores, targets and difficult cells (N, K)."""
    difficult = [
        np.zeros_like(sample.targets) if sample.difficult is None else sample.difficult
        for sample in samples
    ]
    return (
        np.stack([sample.scores for sample in samples]),
        np.stack([sample.targets for sample in samples]),
        np.stack(difficult),
    )


def _tensor(value: Any, what: str) -> torch.Tensor:
    try:
        return torch.as_tensor(value).detach().cpu()
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f'{what} is {value!r:.80}, expected a list of numbers') from error


def _read_scores(value: Any, what: str, num_classes: int) -> np.ndarray:
    scores = _tensor(value, what)
    if scores.shape != (num_classes,):
        raise ValueError(
            f'{what} has shape {tuple(scores.shape)}, expected ({num_classes},), one score for '
            "each of the dataset's classes; check that num_classes of the head, the checkpoint "
            'and the dataset belong together'
        )
    # NumPy has no bfloat16; float64 stays as it is, so that no ties are made.
    return (scores if scores.dtype == torch.float64 else scores.float()).numpy()


def _read_ids(value: Any, what: str, num_classes: int) -> np.ndarray:
    ids = _tensor(value, what)
    integers = not (ids.is_floating_point() or ids.dtype == torch.bool)
    listed = ids.tolist() if ids.ndim == 1 and (integers or not len(ids)) else None
    if (
        listed is None
        or len(set(listed)) < len(listed)
        or any(not 0 <= label < num_classes for label in listed)
    ):
        raise ValueError(
            f'{what} is {ids.tolist()}, expected a list of distinct class ids '
            f'0..{num_classes - 1} (not one-hot)'
        )
    marked = np.zeros(num_classes, bool)
    marked[listed] = True
    return marked
