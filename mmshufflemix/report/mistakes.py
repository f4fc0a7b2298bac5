"""The worst mistakes among predictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mmshufflemix.report.predictions import Predictions

__all__ = ['Mistake', 'false_negatives', 'false_positives', 'wrong_images']


@dataclass(frozen=True)
class Mistake:
    """One image, and the class that is wrong in it."""

    image: int
    label: int


def false_positives(
    predictions: Predictions, thresholds: np.ndarray, limit: int, label: int | None = None
) -> list[Mistake]:
    """Return the negatives that are found, the highest score first.

    Args:
        predictions: Difficult cells are left out.
        thresholds: Lowest score of a prediction for each class (K,).
        limit: How many at most.
        label: Of this class only.
    """
    chosen = ~predictions.targets & (predictions.scores >= thresholds)
    return _ranked(predictions, chosen, -predictions.scores, limit, label)


def false_negatives(
    predictions: Predictions, thresholds: np.ndarray, limit: int, label: int | None = None
) -> list[Mistake]:
    """Return the positives that are not found, the lowest score first; arguments as above."""
    chosen = predictions.targets & (predictions.scores < thresholds)
    return _ranked(predictions, chosen, predictions.scores, limit, label)


def wrong_images(predictions: Predictions, limit: int, label: int | None = None) -> list[Mistake]:
    """Return the images of one label whose wrong class scores highest, with that class.

    Args:
        predictions: Of one label an image.
        limit: How many at most.
        label: Of this true class only.
    """
    highest = predictions.scores.argmax(axis=1)
    chosen = np.zeros(predictions.scores.shape, bool)
    chosen[np.arange(len(highest)), highest] = True
    chosen &= ~predictions.targets
    if label is not None:
        chosen &= predictions.targets[:, [label]]
    return _ranked(predictions, chosen, -predictions.scores, limit, None)


def _ranked(
    predictions: Predictions, chosen: np.ndarray, order: np.ndarray, limit: int, label: int | None
) -> list[Mistake]:
    """Take the cells of lowest ``order``; of equal ones, the first."""
    chosen = chosen & predictions.valid
    if label is not None:
        chosen[:, :label] = False
        chosen[:, label + 1 :] = False
    images, labels = np.nonzero(chosen)
    lowest = np.argsort(order[images, labels], kind='stable')[:limit]
    return [Mistake(int(images[place]), int(labels[place])) for place in lowest]
