"""Choose the lowest score of a predicted class, for each class, from labelled predictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import precision_recall_curve
from sklearn.model_selection import KFold

from mmshufflemix.evaluation.average_precision import check_cells
from mmshufflemix.evaluation.precision_recall import precision_recall_f1

__all__ = ['Tuned', 'TuningRule', 'best_threshold', 'held_out_measures', 'tune_thresholds']

_TIE = 1e-12


@dataclass(frozen=True)
class TuningRule:
    """How thresholds are chosen.

    Attributes:
        precision: Least precision to reach with the lowest threshold; None asks for the best F1.
        min_support: Classes with fewer positives take the threshold of all classes together.
        shrinkage: A class with n positives gets ``(n * own + shrinkage * shared) / (n +
            shrinkage)``: so many imaginary positives vote for the threshold of all classes.

    Raises:
        ValueError: If a value is out of range, or ``shrinkage`` is combined with ``precision``,
            which it would miss.
    """

    precision: float | None = None
    min_support: int = 10
    shrinkage: float = 0.0

    def __post_init__(self) -> None:
        if self.precision is not None and not 0 < self.precision <= 1:
            raise ValueError(f'precision must be above 0 and at most 1, got {self.precision}')
        if self.min_support < 1:
            raise ValueError(f'min_support must be at least 1, got {self.min_support}')
        if not 0 <= self.shrinkage < float('inf'):
            raise ValueError(f'shrinkage must be a number of at least 0, got {self.shrinkage}')
        if self.shrinkage and self.precision is not None:
            raise ValueError(
                'shrinkage moves a threshold away from the asked precision; use one of the two'
            )


@dataclass(frozen=True)
class Tuned:
    """Thresholds of K classes.

    Attributes:
        shared: The one threshold that is chosen on the cells of all classes together.
        thresholds: Those of the classes (K,).
        own: Whether a class was searched on its own (K,), False below ``min_support``.
        reached: Whether the asked precision was reached by the class's own search (K,); True where
            none was asked or the class was not searched.
    """

    shared: float
    thresholds: np.ndarray
    own: np.ndarray
    reached: np.ndarray


def best_threshold(
    scores: np.ndarray, positive: np.ndarray, precision: float | None = None
) -> tuple[float, bool]:
    """Search the threshold of one class, where a score of at least the threshold is a prediction.

    The candidates lie midway between neighbouring distinct scores, since scores move in their last
    digits with batch size and machine; the lowest candidate is the lowest score.

    Args:
        scores: Scores (M,) without NaN.
        positive: Booleans (M,), at least one True.
        precision: None for the best F1 (of equal ones, the highest threshold), else the lowest
            threshold whose precision is at least this. Where none is, that of the best precision
            (of equal ones, the lowest).

    Returns:
        The threshold, and whether ``precision`` was reached (True without one).

    Raises:
        ValueError: If a score is NaN or no cell is positive.
    """
    if np.isnan(scores).any():
        raise ValueError(f'{np.isnan(scores).sum()} of {scores.size} scores are NaN')
    if not positive.any():
        raise ValueError(f'none of {positive.size} cells is positive, so no threshold is best')
    precisions, recalls, cuts = precision_recall_curve(positive, scores)
    # The last point of the curve has no threshold: nothing predicted.
    precisions, recalls = precisions[:-1], recalls[:-1]
    if precision is None:
        f1 = 2 * precisions * recalls / np.maximum(precisions + recalls, _TIE)
        return _between(cuts, int(np.flatnonzero(f1 >= f1.max() - _TIE)[-1])), True
    enough = np.flatnonzero(precisions >= precision)
    reached = bool(len(enough))
    return _between(cuts, int(enough[0] if reached else np.argmax(precisions))), reached


def tune_thresholds(
    scores: np.ndarray, targets: np.ndarray, valid: np.ndarray, rule: TuningRule
) -> Tuned:
    """Choose the thresholds of all classes.

    Args:
        scores: Scores (N, K) without NaN.
        targets: 0/1 or boolean targets (N, K).
        valid: Booleans (N, K); cells where it is False (difficult ones) are left out.
        rule: How.

    Raises:
        ValueError: If shapes differ, a score is NaN or no valid cell is positive.
    """
    targets, valid = check_cells(scores, targets, valid)
    shared, _ = best_threshold(scores[valid], targets[valid], rule.precision)
    support = (targets & valid).sum(axis=0)
    own = support >= rule.min_support
    thresholds = np.full(scores.shape[1], shared)
    reached = np.ones(scores.shape[1], bool)
    for index in np.flatnonzero(own):
        keep = valid[:, index]
        found, reached[index] = best_threshold(
            scores[keep, index], targets[keep, index], rule.precision
        )
        weight = support[index] / (support[index] + rule.shrinkage)
        thresholds[index] = weight * found + (1 - weight) * shared
    return Tuned(shared, thresholds, own, reached)


def held_out_measures(
    scores: np.ndarray,
    targets: np.ndarray,
    valid: np.ndarray,
    rule: TuningRule,
    folds: int = 5,
    seed: int = 0,
) -> dict[str, dict[str, float]]:
    """Measure what tuning brings on images it has not seen.

    The images are drawn into folds; each fold is predicted with thresholds that were tuned on the
    others, and the predictions of all folds are measured together.

    Args:
        scores: As for :func:`tune_thresholds`.
        targets: As above.
        valid: As above; cells left out count for nothing in the measures either.
        rule: How thresholds are chosen, with ``min_support`` counted in the tuning part.
        folds: At least 2, at most N.
        seed: Of the drawing.

    Returns:
        For ``'0.5'``, ``'shared'`` and ``'per class'`` thresholds what
        :func:`~mmshufflemix.evaluation.precision_recall.precision_recall_f1` returns.

    Raises:
        ValueError: If there are too few images or positives for the folds.
    """
    if not 2 <= folds <= len(scores):
        raise ValueError(
            f'folds must be from 2 to the number of images ({len(scores)}), or 0 for none, got '
            f'{folds}'
        )
    targets, valid = check_cells(scores, targets, valid)
    predicted = {
        '0.5': scores >= 0.5,
        'shared': np.zeros(scores.shape, bool),
        'per class': np.zeros(scores.shape, bool),
    }
    for rest, fold in KFold(folds, shuffle=True, random_state=seed).split(scores):
        if not targets[rest][valid[rest]].any():
            raise ValueError(
                f'the images outside one of {folds} folds have no positive; give more images, or '
                '0 folds for no held-out report'
            )
        tuned = tune_thresholds(scores[rest], targets[rest], valid[rest], rule)
        predicted['shared'][fold] = scores[fold] >= tuned.shared
        predicted['per class'][fold] = scores[fold] >= tuned.thresholds
    return {name: precision_recall_f1(cells, targets, valid) for name, cells in predicted.items()}


def _between(cuts: np.ndarray, index: int) -> float:
    """Put a threshold between ``cuts[index]``, which passes, and the next lower one."""
    upper = float(cuts[index])
    if index == 0:
        return upper
    lower = float(cuts[index - 1])
    middle = lower + (upper - lower) / 2
    return middle if lower < middle < upper else upper
