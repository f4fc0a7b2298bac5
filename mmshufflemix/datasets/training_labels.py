"""What a training set says about its labels; pictures are never read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ['training_labels']


def training_labels(dataset: Any) -> Iterator[list[int]]:
    """Yield the class ids of each image as training sees them, each id once.

    Difficult classes are in where the dataset trains on them. An image that a wrapper repeats comes
    as often as an epoch shows it.

    Args:
        dataset: An MMEngine dataset or wrapper with ``gt_label`` (one id or a list) in its data
            infos, or anything with a length and ``get_cat_ids``.

    Raises:
        TypeError: If the dataset is of another kind.
        ValueError: If an image has no ``gt_label``.
    """
    if not hasattr(dataset, 'get_data_info') and not hasattr(dataset, 'get_cat_ids'):
        raise TypeError(
            f'the dataset {type(dataset).__name__} does not tell the classes of its images; '
            'expected a dataset of MMPretrain, or one with get_cat_ids(index)'
        )
    for index in range(len(dataset)):
        if hasattr(dataset, 'get_data_info'):
            labels = dataset.get_data_info(index).get('gt_label')
        else:
            labels = dataset.get_cat_ids(index)
        if labels is None:
            raise ValueError(
                f'image {index} of the dataset {type(dataset).__name__} has no gt_label; expected '
                'class ids, from which classes are counted'
            )
        yield sorted({int(label) for label in np.atleast_1d(labels)})
