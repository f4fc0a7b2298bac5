"""Small VOC trees for tests, and small jobs on them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

SMALL_VOC_JOB = (
    'model.backbone.depth=18',
    'model.backbone.stem_channels=8',
    'model.backbone.base_channels=8',
    'model.backbone.init_cfg=None',
    'model.head.in_channels=64',
    'train_dataloader.dataset.pipeline.1.size=64',
    'train_dataloader.batch_size=2',
    'val_dataloader.dataset.pipeline.1.scale=(64,64)',
    'test_dataloader.dataset.pipeline.1.scale=(64,64)',
    *(f'{name}_dataloader.num_workers=0' for name in ('train', 'val', 'test')),
)
"""Settings that make a job of ML-GCN on VOC small."""


def write_voc_tree(
    root: str | Path,
    images: Mapping[str, Sequence[tuple[str, bool | None]]],
    splits: Mapping[str, Sequence[str]],
    size: tuple[int, int] = (40, 32),
) -> Path:
    """Write a tree in VOC's layout.

    Args:
        root: Folder to write to, such as ``tmp_path / 'VOCdevkit' / 'VOC2007'``.
        images: For every image id its objects as (class name, difficult), None for an object
            without the tag.
        splits: For every list of ``ImageSets/Main`` its image ids.
        size: Width and height of the pictures, which hold noise that depends on the id only.

    Returns:
        The root.
    """
    root = Path(root)
    for folder in ('JPEGImages', 'Annotations', 'ImageSets/Main'):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for name, objects in images.items():
        (root / 'Annotations' / f'{name}.xml').write_text(annotation(name, objects, size))
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        pixels = rng.integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
        Image.fromarray(pixels).save(root / 'JPEGImages' / f'{name}.jpg')
    for split, names in splits.items():
        lines = ''.join(f'{name}\n' for name in names)
        (root / 'ImageSets' / 'Main' / f'{split}.txt').write_text(lines)
    return root


def annotation(
    name: str, objects: Sequence[tuple[str, bool | None]], size: tuple[int, int] = (40, 32)
) -> str:
    """Return the XML of one image."""
    width, height = size
    nodes = []
    for class_name, difficult in objects:
        tag = '' if difficult is None else f'<difficult>{int(difficult)}</difficult>'
        nodes.append(
            f'<object><name>{class_name}</name><pose>Unspecified</pose>{tag}'
            f'<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>{width}</xmax><ymax>{height}</ymax>'
            '</bndbox></object>'
        )
    return (
        f'<annotation><filename>{name}.jpg</filename>'
        f'<size><width>{width}</width><height>{height}</height><depth>3</depth></size>'
        f'{"".join(nodes)}</annotation>'
    )
