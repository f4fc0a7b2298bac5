"""Read a dataset of small images into one array."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import cv2
import mmengine.dataset
import numpy as np
from mmcv.transforms import LoadImageFromFile
from mmengine.dataset import ClassBalancedDataset, RepeatDataset
from mmengine.logging import print_log
from mmpretrain.datasets import KFoldDataset

from mmshufflemix.small_images.meta import MetaTable, arrange_meta
from mmshufflemix.small_images.pipeline import SplitPipeline

__all__ = ['Allocate', 'ImageTable', 'in_memory', 'read_table', 'unwrap']

Allocate = Callable[[tuple[int, ...]], np.ndarray]


@dataclass(frozen=True)
class ImageTable:
    """Images of one size, with their labels.

    Attributes:
        images: uint8 (N, C, H, W), channels in the order of the reader.
        labels: Class ids (N,), int64.
        shape: Shape of an image as transforms see it, (H, W, C) or (H, W).
        meta: Their meta information.
    """

    images: np.ndarray
    labels: np.ndarray
    shape: tuple[int, ...]
    meta: MetaTable

    def with_images(self, images: np.ndarray) -> ImageTable:
        """Return the table with other images."""
        return replace(self, images=images)


def unwrap(dataset: Any) -> tuple[mmengine.dataset.BaseDataset, list[int] | None]:
    """Find the dataset inside wrappers that repeat, balance or fold it.

    Returns:
        The dataset, and the index in it of each sample; None if there is no wrapper.

    Raises:
        TypeError: If there is none, or several are joined.
    """
    if isinstance(dataset, mmengine.dataset.BaseDataset):
        return dataset, None
    if isinstance(dataset, KFoldDataset):
        return unwrap(dataset.dataset)
    if not isinstance(dataset, RepeatDataset | ClassBalancedDataset):
        raise TypeError(
            f'the fast path for small images cannot read a {type(dataset).__name__}; it reads one '
            'dataset of MMPretrain, also in ClassSubset, RepeatDataset, ClassBalancedDataset or '
            'KFoldDataset. Leave runner_type out for this one'
        )
    inner, inner_order = unwrap(dataset.dataset)
    order = [dataset._get_ori_dataset_idx(index) for index in range(len(dataset))]
    return inner, order if inner_order is None else [inner_order[index] for index in order]


def read_table(
    dataset: mmengine.dataset.BaseDataset, pipeline: SplitPipeline, allocate: Allocate | None = None
) -> ImageTable:
    """Read all images of a dataset.

    Args:
        dataset: A dataset whose annotations are read.
        pipeline: Its pipeline; the first part is applied here.
        allocate: Makes the array of images from its shape; None takes this process's own memory.

    Raises:
        OSError: If a picture is missing, or not for this user to read.
        ValueError: If the images cannot be read, differ in size, are not 8-bit, take more than half
            of the memory of this machine, or have not one label each.
    """
    count = len(dataset)
    labels = np.empty(count, np.int64)
    rows: list[dict[str, Any]] = []
    images, shape = np.empty(0), ()
    for index in range(count):
        results = dataset.get_data_info(index)
        labels[index] = _label(results)
        for transform in pipeline.once:
            load = isinstance(transform, LoadImageFromFile)
            results = _load(transform, results) if load else transform(results)
        image = results['img']
        if index == 0:
            shape = image.shape
            images = _allocate(allocate or in_memory, count, image)
        if image.shape != shape:
            raise ValueError(
                'the fast path for small images needs images of one size, got '
                f'{_size(shape)} and {_size(image.shape)} ({_name(results)}); put a Resize before '
                'the random transforms, or leave runner_type out'
            )
        images[index] = image[None] if image.ndim == 2 else image.transpose(2, 0, 1)
        rows.append({key: results[key] for key in pipeline.meta_keys if key in results})
    return ImageTable(images, labels, shape, arrange_meta(rows))


def in_memory(shape: tuple[int, ...]) -> np.ndarray:
    """Make an array for images in the memory of this process."""
    return np.empty(shape, np.uint8)


def _allocate(allocate: Allocate, count: int, image: np.ndarray) -> np.ndarray:
    if image.dtype != np.uint8 or image.ndim not in (2, 3):
        raise ValueError(
            f'the fast path for small images needs 8-bit images, got {image.dtype} of shape '
            f'{image.shape}; leave to_float32 out, or runner_type'
        )
    height, width, channels = (*image.shape, 1)[:3]
    size, memory = count * image.size, os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')
    if size > memory / 2:
        raise ValueError(
            f'{count} images of {_size(image.shape)} take {size / 2**30:.1f} GB, more than half of '
            "this machine's memory, and the fast path for small images holds them all; leave "
            'runner_type out'
        )
    print_log(
        f'Reading {count} images of {_size(image.shape)} into memory ({size / 2**20:.0f} MB).',
        logger='current',
    )
    return allocate((count, channels, height, width))


def _load(loader: LoadImageFromFile, info: dict[str, Any]) -> dict[str, Any]:
    results, cause = None, None
    try:
        results = loader(info)
    except (FileNotFoundError, PermissionError):
        raise
    except (AssertionError, OSError, SyntaxError, cv2.error) as error:
        # OpenCV and Pillow mostly do not name the file.
        cause = error
    if results is None:
        raise ValueError(
            'the fast path for small images needs every image, and '
            f'{_name(info)} cannot be read; mend or remove that file'
        ) from cause
    return results


def _label(info: dict[str, Any]) -> int:
    label = info.get('gt_label')
    if not isinstance(label, int | np.integer):
        raise ValueError(
            'the fast path for small images needs one integer gt_label an image, got '
            f'{label!r} ({_name(info)}); leave runner_type out for data with several labels or none'
        )
    for key in ('gt_score', 'mask'):
        if key in info:
            raise ValueError(
                f'the fast path for small images knows gt_label only, and {_name(info)} has a '
                f'{key}, too; leave runner_type out for such data'
            )
    return int(label)


def _name(info: dict[str, Any]) -> str:
    return str(info.get('img_path') or f'image {info.get("sample_idx")}')


def _size(shape: tuple[int, ...]) -> str:
    return ' x '.join(map(str, shape))
