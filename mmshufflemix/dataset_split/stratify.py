"""Distribute images over parts: sizes as wanted, and each class in equal shares.

The first distribution is iterative stratification (Sechidis, Tsoumakas and Vlahavas, "On the
Stratification of Multi-Label Data", 2011) by the package iterative-stratification. It may leave a
rare class out of a part and miss the sizes, which :mod:`mmshufflemix.dataset_split.repair` mends.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from iterstrat.ml_stratifiers import IterativeStratification

from mmshufflemix.dataset_split.repair import Layout, fill_sizes, spread_classes

__all__ = ['part_sizes', 'stratify']

_TRIES = 10


def part_sizes(total: int, shares: Sequence[float]) -> list[int]:
    """Divide a number of images by shares: whole numbers less than one from the exact ones.

    Args:
        total: At least one image for each part.
        shares: Positive, with the sum 1.

    Returns:
        At least 1 for each part, with the sum ``total``.

    Raises:
        ValueError: If there are fewer images than parts.
    """
    if total < len(shares):
        raise ValueError(
            f'{total} images cannot fill {len(shares)} parts; ask for fewer parts or add images'
        )
    exact = np.asarray(shares) * total
    sizes = np.floor(exact + 1e-9).astype(int)
    # Ties go to the first part.
    for index in np.argsort(sizes - exact, kind='stable')[: total - sizes.sum()]:
        sizes[index] += 1
    while sizes.min() < 1:
        sizes[sizes.argmin()] += 1
        sizes[sizes.argmax()] -= 1
    return sizes.tolist()


def stratify(
    labels: np.ndarray,
    bundles: np.ndarray,
    shares: Sequence[float],
    generator: np.random.Generator,
    ranked: bool = True,
) -> np.ndarray:
    """Choose a part for each image.

    Sizes are those of :func:`part_sizes` where no bundle has several images, else as near as
    bundles allow. A class that is in b bundles gets into min(b, P) parts wherever one of a few
    distributions, mended by single moves, allows that; the best one counts.

    Args:
        labels: Booleans of shape (N, K).
        bundles: Numbers from 0, shape (N,): images of one number stay together.
        shares: P positive shares with the sum 1.
        generator: Draws the order of the bundles and breaks ties.
        ranked: A class with fewer bundles than parts goes to the first parts; otherwise to any
            different ones.

    Returns:
        Part numbers 0..P-1, shape (N,).

    Raises:
        ValueError: If there are fewer bundles than parts.
    """
    count = int(bundles.max()) + 1
    if count < len(shares):
        raise ValueError(
            f'{len(labels)} images form {count} groups that stay together, which cannot fill '
            f'{len(shares)} parts; ask for fewer parts or smaller groups'
        )
    sizes = np.bincount(bundles, minlength=count)
    counts = np.zeros((count, labels.shape[1]), int)
    np.add.at(counts, bundles, labels)
    wanted = np.array(part_sizes(len(labels), shares))
    # As if all images had one more class in common, so that no part is left empty.
    common = np.column_stack([counts, sizes])
    found: list[tuple[int, int]] = []
    layouts: list[np.ndarray] = []
    while len(found) < _TRIES and (not found or any(found[-1])):
        layout = Layout(_distribute(counts, shares, generator), sizes, common, wanted, ranked)
        spread_classes(layout)
        fill_sizes(layout)
        off = np.maximum(abs(layout.excess()) - 1, 0)
        found.append((int(layout.missing().sum()), int(off.sum())))
        layouts.append(layout.parts)
    return layouts[found.index(min(found))][bundles]


def _distribute(
    counts: np.ndarray, shares: Sequence[float], generator: np.random.Generator
) -> np.ndarray:
    """Distribute bundles by iterative stratification; it takes no notice of their sizes."""
    order = generator.permutation(len(counts))
    parts = np.empty(len(counts), int)
    parts[order] = IterativeStratification(
        labels=counts[order] > 0, r=np.asarray(shares, float), random_state=generator
    )
    return parts
