"""Small data sets on disk for the checks."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from mmshufflemix.dataset_check.findings import Finding

CLASSES = ('cat', 'dog', 'tree')


def write_json_folder(
    root: Path,
    splits: Mapping[str, Sequence[Any]],
    classes: Any = CLASSES,
    pictures: bool = True,
) -> Path:
    """Write the files of the splits, and a picture of its own for every name in them.

    A row is (name, labels), or anything else to be written as it is.
    """
    (root / 'images').mkdir(parents=True)
    for split, rows in splits.items():
        listed = [
            {'img_path': row[0], 'gt_label': row[1]} if isinstance(row, tuple) else row
            for row in rows
        ]
        content = {'metainfo': {'classes': list(classes)}, 'data_list': listed}
        (root / f'{split}.json').write_text(json.dumps(content))
        for row in rows if pictures else ():
            if isinstance(row, tuple) and '..' not in row[0]:
                smooth(zlib.crc32(row[0].encode())).save(root / 'images' / row[0])
    return root


def smooth(seed: int, size: tuple[int, int] = (80, 64)) -> Image.Image:
    """A picture of soft random blots, as photographs rather than noise are."""
    blots = np.random.default_rng(seed).integers(0, 256, (6, 7, 3), dtype=np.uint8)
    return Image.fromarray(blots).resize(size, Image.Resampling.BICUBIC)


def items(findings: Sequence[Finding]) -> dict[tuple[str, str], tuple[str, ...]]:
    """The items of findings by kind and split."""
    return {(found.kind, found.split): found.items for found in findings}
