"""What a reader of an ONNX file has to know beside the graph."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mmshufflemix.export.pipeline import ResizeRule

__all__ = ['make_metadata', 'write_metadata']


def make_metadata(
    classes: Sequence[str],
    thresholds: Sequence[float] | None,
    size: tuple[int, int],
    mean: Sequence[float],
    std: Sequence[float],
    rule: ResizeRule,
    version: str,
) -> dict[str, str]:
    """Collect the metadata of an exported file, every value as text.

    Args:
        classes: The K class names.
        thresholds: Lowest score of a label for each class (K,), None for one label an image.
        size: Height and width of the pictures.
        mean: Of the three channels, in the order of the network's own input.
        std: Likewise.
        rule: How pictures are brought to ``size``.
        version: Of this package.

    Returns:
        JSON in ``class_names`` (list), ``thresholds`` (list, or null), ``input_size`` (height,
        width), ``mean``, ``std`` (lists) and ``resize_rule`` (object); plain text in ``task``,
        ``input``, ``resize`` and ``mmshufflemix_version``.
    """
    rules = {key: value for key, value in asdict(rule).items() if key != 'unknown'}
    several = thresholds is not None
    return {
        'class_names': json.dumps(list(classes), ensure_ascii=False),
        'thresholds': json.dumps(None if thresholds is None else list(thresholds)),
        'input_size': json.dumps(list(size)),
        'mean': json.dumps(list(mean)),
        'std': json.dumps(list(std)),
        'resize_rule': json.dumps(rules),
        'resize': rule.describe(size),
        'task': 'multi-label' if several else 'single-label',
        'input': 'RGB pictures from 0 to 255; mean and std are subtracted and divided inside',
        'mmshufflemix_version': version,
    }


def write_metadata(proto: Any, metadata: Mapping[str, str]) -> None:
    """Put metadata into an ``onnx.ModelProto``, in place of what it has."""
    del proto.metadata_props[:]
    for key, value in metadata.items():
        entry = proto.metadata_props.add()
        entry.key, entry.value = key, value
