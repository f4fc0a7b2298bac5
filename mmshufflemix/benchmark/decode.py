"""Where the time goes when large pictures are prepared, and what other decoders would save."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mmcv
import numpy as np
import torch
from mmengine.dataset import Compose
from mmpretrain.registry import TRANSFORMS

from mmshufflemix.benchmark.decoders import BASE, Decode, list_decoders
from mmshufflemix.benchmark.paired import time_pairs
from mmshufflemix.datasets.multi_scale_crop import MultiScaleCrop
from mmshufflemix.datasets.reduced_jpeg import min_side_of_crop

__all__ = [
    'PreparationCost',
    'difference',
    'measure_decoder',
    'measure_stages',
    'read_pictures',
    'require_installed',
    'summarise_differences',
]


@dataclass(frozen=True)
class PreparationCost:
    """The training pipeline of VOC2007 that pictures are prepared with.

    Attributes:
        size: Side of the result in pixels.
        min_side: Least short side in pixels that reduced decoding leaves; None for what
            ``MultiScaleCrop`` needs so that nothing is enlarged.
        pairs: Number of timed pairs, at least 2; the pictures take turns.
        seed: Seed of the crops.
    """

    size: int = 448
    min_side: int | None = None
    pairs: int = 300
    seed: int = 0

    @property
    def least_side(self) -> int:
        """``min_side``, or what the crop needs."""
        if self.min_side is not None:
            return self.min_side
        return min_side_of_crop(self.size, min(MultiScaleCrop(self.size).scales))


def read_pictures(folder: str | Path, limit: int = 1000) -> list[bytes]:
    """Read the JPEG files of a folder in the order of their names.

    Args:
        folder: Is not searched recursively.
        limit: Number of files at most, evenly spread over the folder.

    Raises:
        FileNotFoundError: If there is no such folder.
        ValueError: If it has no JPEG file, or one that OpenCV cannot decode.
    """
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"'{folder}' is no folder; give one that holds JPEG pictures")
    paths = sorted(p for p in Path(folder).iterdir() if p.suffix.lower() in ('.jpg', '.jpeg'))
    if not paths:
        raise ValueError(f"'{folder}' holds no file *.jpg or *.jpeg; give a folder of pictures")
    chosen = paths[:: -(-len(paths) // limit)]
    for path in chosen:
        content = path.read_bytes()
        if not content or mmcv.imfrombytes(content, backend='cv2') is None:
            raise ValueError(f'cannot decode the image {path}; take it out of the folder')
    return [path.read_bytes() for path in chosen]


def measure_stages(pictures: Sequence[bytes], cost: PreparationCost) -> dict[str, float]:
    """Return the median seconds a picture of each stage, decoded by OpenCV."""
    decode = require_installed(list_decoders(cost.least_side), BASE)
    steps = dict(zip(('crop and resize', 'flip', 'pack'), _steps(cost.size, 1.0), strict=True))
    times: dict[str, list[float]] = {name: [] for name in ('decode', *steps)}
    for number in range(cost.pairs):
        torch.manual_seed(cost.seed + number)
        start = time.perf_counter()
        results = _results(decode(pictures[number % len(pictures)]))
        times['decode'].append(time.perf_counter() - start)
        for name, step in steps.items():
            start = time.perf_counter()
            results = step(results)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def measure_decoder(
    pictures: Sequence[bytes],
    name: str,
    cost: PreparationCost,
    report: Callable[[int], object] = lambda done: None,
) -> dict[str, Any]:
    """Compare a decoder with OpenCV's, alone and within the pipeline.

    Args:
        pictures: JPEG files.
        name: One of :func:`~mmshufflemix.benchmark.decoders.list_decoders`, installed.
        cost: The pipeline and number of pairs.
        report: Called with the number of pairs after each, first for decoding alone.

    Returns:
        The summaries of ``decode`` and ``pipeline``, ratios being new by old; and of the pixels
        after a bilinear resize to the whole square the greatest (``max``), the ``mean`` and the
        99th percentile (``p99``) of the absolute differences in grey levels.
    """
    decoders = list_decoders(cost.least_side)
    base, other = require_installed(decoders, BASE), require_installed(decoders, name)
    # Every second picture is flipped, the same in both.
    pipelines = [Compose(_steps(cost.size, prob)) for prob in (0.0, 1.0)]

    def picture(number: int) -> tuple[int, bytes]:
        torch.manual_seed(cost.seed + max(number, 0))
        return number, pictures[number % len(pictures)]

    def alone(decode: Decode) -> Callable[[tuple[int, bytes]], object]:
        return lambda argument: decode(argument[1])

    def within(decode: Decode) -> Callable[[tuple[int, bytes]], object]:
        return lambda argument: pipelines[argument[0] % 2](_results(decode(argument[1])))

    decode_times, pipeline_times = (
        time_pairs(run(base), run(other), picture, cost.pairs, report=report)
        for run in (alone, within)
    )
    gaps = [
        difference(_resized(other(content), cost.size), _resized(base(content), cost.size))
        for content in pictures
    ]
    return {
        'decode': decode_times.summary(),
        'pipeline': pipeline_times.summary(),
        **summarise_differences(gaps),
    }


def difference(image: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Count how many pixel values differ by 0, 1, ... 255 grey levels (256)."""
    gaps = np.abs(np.subtract(image, other, dtype=np.int16))
    return np.bincount(gaps.ravel(), minlength=256)


def summarise_differences(counts: Sequence[np.ndarray]) -> dict[str, float]:
    """Return ``max``, ``mean`` and 99th percentile (``p99``) of counted differences."""
    total = np.sum(counts, axis=0)
    shares = np.cumsum(total) / total.sum()
    return {
        'max': int(np.flatnonzero(total).max()),
        'mean': float(total @ np.arange(len(total)) / total.sum()),
        'p99': int(np.searchsorted(shares, 0.99)),
    }


def require_installed(functions: Mapping[str, Any], name: str) -> Any:
    """Return a function of a table.

    Raises:
        ValueError: If the name is unknown or its function is None.
    """
    if functions.get(name) is None:
        names = [key for key, function in functions.items() if function is not None]
        raise ValueError(f'{name!r} is not installed; choose one of {", ".join(names)}')
    return functions[name]


def _resized(image: np.ndarray, side: int) -> np.ndarray:
    return mmcv.imresize(image, (side, side))


def _results(image: np.ndarray) -> dict[str, Any]:
    shape = image.shape[:2]
    return {'img': image, 'img_shape': shape, 'ori_shape': shape, 'gt_label': [0]}


def _steps(size: int, flip: float) -> list[Callable[[dict], dict]]:
    configs: list[dict] = [
        {'type': 'MultiScaleCrop', 'size': size},
        {'type': 'RandomFlip', 'prob': flip, 'direction': 'horizontal'},
        {'type': 'PackInputs'},
    ]
    return [TRANSFORMS.build(config) for config in configs]
