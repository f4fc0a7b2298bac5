"""Average precision of every class, with cells left out and ties by one rule."""

from __future__ import annotations

import numpy as np

__all__ = ['average_precision', 'check_cells']


def average_precision(
    scores: np.ndarray, targets: np.ndarray, valid: np.ndarray | None = None
) -> np.ndarray:
    """Average precision over all points (not the 11 points of VOC2007's own tool).

    A class's samples are ranked by falling score; AP is the mean, over its positives, of the
    precision at their rank. The rank of a sample is the number of samples that score at least as
    high: samples with equal scores share the rank of the last of them, so their order never
    matters. Scikit-learn's ``average_precision_score`` has the same rule.

    Args:
        scores: Scores of shape (N, K), any real numbers.
        targets: 0/1 or boolean targets of shape (N, K).
        valid: Booleans of shape (N, K); a sample is left out of the rankings of the classes where
            it is False. Default: all are in.

    Returns:
        AP of every class in 0..1, shape (K,); NaN for a class without a valid positive.

    Raises:
        ValueError: If the shapes differ or are not (N, K), a score is NaN, or a target is not 0/1.
    """
    scores = np.asarray(scores, np.float64)
    targets, valid = check_cells(scores, targets, valid)
    broken = np.argwhere(np.isnan(scores))
    if len(broken):
        raise ValueError(
            f'{len(broken)} of {scores.size} scores are NaN, the first one of sample '
            f'{broken[0][0]} and class {broken[0][1]}; expected numbers, look for a diverged '
            'training or a broken input'
        )
    columns = zip(scores.T, targets.T, valid.T, strict=True)
    return np.array([_class_ap(score[keep], positive[keep]) for score, positive, keep in columns])


def check_cells(
    values: np.ndarray, targets: np.ndarray, valid: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Check that predictions, targets and the mask of valid cells fit together.

    Returns:
        Targets and valid cells as booleans of shape (N, K).

    Raises:
        ValueError: If the shapes differ or are not (N, K), or a target is not 0/1.
    """
    targets = np.asarray(targets)
    valid = np.ones(values.shape, bool) if valid is None else np.asarray(valid, bool)
    if values.ndim != 2 or not values.shape == targets.shape == valid.shape:
        raise ValueError(
            'predictions, targets and valid cells must have one shape (samples, classes), got '
            f'{values.shape}, {targets.shape} and {valid.shape}'
        )
    if not np.isin(targets, (0, 1)).all():
        raise ValueError(
            f'targets must be 0 or 1, got values from {targets.min()} to {targets.max()}; leave '
            'cells out with `valid`'
        )
    return targets.astype(bool), valid


def _class_ap(scores: np.ndarray, positive: np.ndarray) -> float:
    if not positive.any():
        return float('nan')
    order = np.argsort(-scores, kind='stable')
    falling = -scores[order]
    rank = np.searchsorted(falling, falling, side='right')
    precision = np.cumsum(positive[order])[rank - 1] / rank
    return float(precision[positive[order]].mean())
