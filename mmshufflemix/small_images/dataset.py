"""A dataset that gives whole batches of small images from memory."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
import torch
from mmengine.dataset import default_collate
from mmpretrain.registry import DATASETS
from torch import Tensor

from mmshufflemix.small_images.pipeline import make_steps, split_pipeline
from mmshufflemix.small_images.samples import make_samples
from mmshufflemix.small_images.sharing import read_once
from mmshufflemix.small_images.table import read_table, unwrap
from mmshufflemix.small_images.views import View

__all__ = ['InMemoryImages', 'keep_batch']


@DATASETS.register_module()
class InMemoryImages:
    """All images of another dataset as one uint8 array, with its pipeline split in three.

    Loading and resizing are done once, when this is built. Crops and flips are drawn for a batch,
    from PyTorch's generator, and applied by
    :class:`~mmshufflemix.small_images.SmallImagePreprocessor` on the device of the model. Packing
    gives the ``DataSample`` of the ordinary pipeline. The processes of a distributed run share
    one array on each machine, and have to build this together.

    Args:
        dataset: Config of the dataset, or the dataset itself; one integer label an image.

    Raises:
        TypeError: If it joins several datasets.
        ValueError: If it is empty, or its pipeline, labels or images are of another kind than
            described in :func:`~mmshufflemix.small_images.pipeline.split_pipeline` and
            :func:`~mmshufflemix.small_images.table.read_table`.
    """

    def __init__(self, dataset: Any) -> None:
        dataset = _open(dataset)
        inner, order = unwrap(dataset)
        pipeline = split_pipeline(inner.pipeline.transforms)
        table = read_once(partial(read_table, inner, pipeline))
        self._metainfo = deepcopy(dict(dataset.metainfo))
        self._meta_keys = pipeline.meta_keys
        self._steps = make_steps(pipeline.random, table.shape)
        written = [key for step in self._steps for key in step.meta(torch.empty(0))]
        self._meta = table.meta.without(written)
        self._images = torch.from_numpy(table.images)
        self._labels = torch.from_numpy(table.labels)
        self._order = None if order is None else torch.tensor(order)

    @property
    def metainfo(self) -> dict[str, Any]:
        """Meta information of the dataset, such as the names of the classes."""
        return deepcopy(self._metainfo)

    def __len__(self) -> int:
        return len(self._images if self._order is None else self._order)

    def __getitems__(self, indices: Sequence[int]) -> dict[str, Any]:
        """Give a batch, as a data loader asks for it.

        Args:
            indices: Which images, N numbers; negative ones count from the end.

        Returns:
            ``inputs``, uint8 (N, C, H, W), not cropped yet; ``data_samples``, a list; and
            ``views``, what the data preprocessor is to do with the images.

        Raises:
            IndexError: If there is no such image.
        """
        positions = self._positions(indices)
        views = [View(step, step.draw(len(indices))) for step in self._steps]
        places = positions.tolist()
        samples = make_samples(self._labels.index_select(0, positions), *self._metas(places, views))
        if self._meta.own:
            for sample, place in zip(samples, places, strict=True):
                sample.set_metainfo(self._meta.own[place])
        return {
            'inputs': self._images.index_select(0, positions),
            'data_samples': samples,
            'views': views,
        }

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Give one sample, cropped and flipped, as the ordinary dataset does.

        Raises:
            IndexError: If there is no such image; this also ends loops over the dataset.
        """
        batch = self.__getitems__([index])
        images = batch['inputs']
        for view in batch['views']:
            images = view.apply(images)
        return {'inputs': images[0], 'data_samples': batch['data_samples'][0]}

    def get_cat_ids(self, index: int) -> list[int]:
        """Return the label of an image, for samplers that balance classes."""
        return self._labels[self._positions([index])].tolist()

    def get_gt_labels(self) -> np.ndarray:
        """Return the labels (N,) of all images."""
        labels = self._labels if self._order is None else self._labels[self._order]
        return labels.numpy().copy()

    def _positions(self, indices: Sequence[int]) -> Tensor:
        """Where images (N,) lie in the table."""
        lowest, highest, count = min(indices), max(indices), len(self)
        if lowest < -count or highest >= count:
            raise IndexError(
                f'there is no image {highest if highest >= count else lowest}: this dataset has '
                f'{count}, numbered 0 to {count - 1}, or -{count} to -1 from the end'
            )
        positions = torch.as_tensor(indices)
        if lowest < 0:
            positions = positions % count
        return positions if self._order is None else self._order[positions]

    def _metas(
        self, positions: Sequence[int], views: Sequence[View]
    ) -> tuple[dict[str, Any], dict[str, list[Any]]]:
        """Meta information as the ordinary pipeline leaves it: of all images, and by image."""
        common = dict(self._meta.common)
        columns = {
            key: [column[position] for position in positions]
            for key, column in self._meta.columns.items()
        }
        for view in views:
            for key, value in view.step.meta(view.draws).items():
                if key in self._meta_keys:
                    (columns if isinstance(value, list) else common)[key] = value
        return common, columns


def _open(dataset: Any) -> Any:
    """Build a dataset, if this is its config, and read its annotations."""
    try:
        if isinstance(dataset, dict):
            dataset = DATASETS.build(dataset)
        dataset.full_init()
        empty = len(dataset) == 0
    except ValueError as error:
        # NumPy's words for a list of annotations without any, which MMEngine joins.
        if 'need at least one array to concatenate' not in str(error):
            raise
        empty = True
    if empty:
        kind = dataset['type'] if isinstance(dataset, dict) else type(dataset)
        raise ValueError(
            'the fast path for small images needs at least one image, and '
            f'{getattr(kind, "__name__", kind)} has none; check its data_root, ann_file and indices'
        )
    return dataset


def keep_batch(batch: Any) -> Any:
    """Leave batches of :class:`InMemoryImages` as they are, and join lists of samples."""
    return batch if isinstance(batch, dict) else default_collate(batch)
