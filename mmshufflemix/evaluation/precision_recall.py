"""Precision, recall and F1 of multi-label predictions, per class and overall."""

from __future__ import annotations

import numpy as np

from mmshufflemix.evaluation.average_precision import check_cells

__all__ = ['precision_recall_f1', 'top_k_cells']


def top_k_cells(scores: np.ndarray, k: int) -> np.ndarray:
    """Mark each sample's ``k`` highest scores; of equal scores the lower class index comes first.

    Args:
        scores: Scores of shape (N, K).
        k: How many to mark, at least 1; with fewer classes all are marked.

    Returns:
        Booleans of shape (N, K).
    """
    highest = np.argsort(-scores, axis=1, kind='stable')[:, :k]
    marked = np.zeros(scores.shape, bool)
    np.put_along_axis(marked, highest, True, axis=1)
    return marked


def precision_recall_f1(
    predicted: np.ndarray, targets: np.ndarray, valid: np.ndarray | None = None
) -> dict[str, float]:
    """The six measures of ML-GCN (Chen et al., CVPR 2019, section 4.1).

    CP and CR are the means of the classes' precisions and recalls, CF1 is taken from these two
    means. A class that is never predicted has precision 0. A class without positives has no recall
    and is left out of both means. OP, OR and OF1 count over the cells of all classes;
    ML-GCN's released code also adds one prediction to OP for a class that is never predicted, which
    the definition does not have and this function does not do.

    Args:
        predicted: Boolean predictions of shape (N, K).
        targets: 0/1 or boolean targets of shape (N, K).
        valid: Booleans of shape (N, K); cells where it is False count for nothing. Default: all
            count.

    Returns:
        CP, CR, CF1, OP, OR and OF1, each in 0..1.

    Raises:
        TypeError: If ``predicted`` is not boolean.
        ValueError: If the shapes differ or are not (N, K), or there is no valid positive.
    """
    if predicted.dtype != bool:
        raise TypeError(
            f'predicted must be boolean, got {predicted.dtype}; compare the scores with a threshold'
        )
    targets, valid = check_cells(predicted, targets, valid)
    predicted, targets = predicted & valid, targets & valid
    right = (predicted & targets).sum(axis=0)
    chosen, positives = predicted.sum(axis=0), targets.sum(axis=0)
    present = positives > 0
    if not present.any():
        raise ValueError(
            f'none of the {targets.size} targets is positive, so that recall is undefined; check '
            'that the samples carry labels'
        )
    class_precision = float((right / np.maximum(chosen, 1))[present].mean())
    class_recall = float((right[present] / positives[present]).mean())
    precision = float(right.sum() / max(chosen.sum(), 1))
    recall = float(right.sum() / positives.sum())
    return {
        'CP': class_precision,
        'CR': class_recall,
        'CF1': _f1(class_precision, class_recall),
        'OP': precision,
        'OR': recall,
        'OF1': _f1(precision, recall),
    }


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
