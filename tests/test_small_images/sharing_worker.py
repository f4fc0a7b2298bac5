"""One of two processes that share the images of a folder; writes what it saw for the test."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch.distributed as dist
from mmcv.transforms import LoadImageFromFile
from mmpretrain.utils import register_all_modules

from mmshufflemix import InMemoryImages
from mmshufflemix.small_images import sharing

PIPELINE = [dict(type='LoadImageFromFile'), dict(type='PackInputs')]


def look(folder: Path) -> dict[str, Any]:
    """Read a folder, count what this process decodes, and describe what it has."""
    load, decoded = LoadImageFromFile.transform, []

    def count(self: Any, results: dict) -> Any:
        decoded.append(results['img_path'])
        return load(self, results)

    config = dict(type='CustomDataset', data_root=str(folder), pipeline=PIPELINE)
    with patch.object(LoadImageFromFile, 'transform', count):
        try:
            dataset = InMemoryImages(config)
        except Exception as error:
            return dict(decoded=len(decoded), error=f'{type(error).__name__}: {error}')
    batch = dataset.__getitems__([3, 1])
    # Device and inode of the file behind the images; its name is gone, or about to go.
    maps = [line.split() for line in Path('/proc/self/maps').read_text().splitlines()]
    files = {tuple(entry[3:5]) for entry in maps if any('mmshufflemix-' in part for part in entry)}
    return dict(
        decoded=len(decoded),
        images=hashlib.sha256(dataset._images.numpy().tobytes()).hexdigest(),
        labels=dataset.get_gt_labels().tolist(),
        paths=[sample.img_path for sample in batch['data_samples']],
        inputs=int(batch['inputs'].sum()),
        files=sorted(files),
    )


def main(folder: Path) -> None:
    """Read a whole folder, one with a broken picture, and one as if on two machines."""
    dist.init_process_group('gloo')
    register_all_modules()
    rank = dist.get_rank()
    seen = {name: look(folder / name) for name in ('whole', 'broken')}
    with patch.object(sharing, '_machine', lambda: f'machine {rank}'):
        seen['two machines'] = look(folder / 'whole')
    seen['left over'] = sorted(os.listdir(os.environ['TMPDIR']))
    (folder / f'rank{rank}.json').write_text(json.dumps(seen))
    dist.destroy_process_group()


if __name__ == '__main__':
    main(Path(sys.argv[1]))
