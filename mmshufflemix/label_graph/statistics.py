"""Counting labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

__all__ = ['count_labels']


def count_labels(
    labels: Iterable[Sequence[int]], num_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Count the images of every class and of every pair of classes.

    Args:
        labels: Class ids of each image, in 0..K-1; a repeated id counts once.
        num_classes: K.

    Returns:
        Counts (K,) and co-occurrence (K, K), symmetric with a zero diagonal, both int64.

    Raises:
        ValueError: If an id is not in 0..K-1.
    """
    together = np.zeros((num_classes, num_classes), dtype=np.int64)
    for image, ids in enumerate(labels):
        present = sorted(set(ids))
        if present and not 0 <= present[0] <= present[-1] < num_classes:
            raise ValueError(
                f'image {image} has the labels {present}, expected class ids in '
                f'0..{num_classes - 1}'
            )
        together[np.ix_(present, present)] += 1
    counts = together.diagonal().copy()
    np.fill_diagonal(together, 0)
    return counts, together
