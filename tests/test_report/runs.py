"""Work folders as a training leaves them, without a training."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

NAMES = ('cat', '<b>dog</b>', '$owl')
COLOUR = (255, 0, 255)


def write_start(
    work_dir: Path,
    time: str,
    epochs: Sequence[int],
    length: int = 10,
    measure: str = 'multi-label/mAP',
    loss: float = 1.0,
) -> None:
    """Log each epoch at its middle and its end, and a validation: mAP is ten times the epoch."""
    records: list[dict[str, Any]] = []
    for epoch in epochs:
        for done in (length // 2, length):
            step = (epoch - 1) * length + done
            record = {'lr': 0.1 / epoch, 'loss': loss / epoch, 'epoch': epoch}
            records.append({**record, 'iter': step, 'step': step})
        records.append({measure: 10.0 * epoch, 'time': 1.0, 'step': epoch})
    path = work_dir / time / 'vis_data' / 'scalars.json'
    path.parent.mkdir(parents=True)
    path.write_text('\n'.join(map(json.dumps, records)) + '\n{"loss": 1, "ep')


def write_config(work_dir: Path, max_epochs: int, names: Sequence[str] = NAMES) -> Path:
    """Write the config of a multi-label run whose pictures are in ``pictures`` beside it."""
    metainfo = {'classes': tuple(names)}
    path = work_dir / 'mine.py'
    path.write_text(
        f'train_cfg = dict(by_epoch=True, max_epochs={max_epochs})\n'
        f"dataset = dict(type='MultiLabelDataset', metainfo={metainfo}, pipeline=[], "
        f'data_root={str(work_dir / "pictures")!r})\n'
        'test_dataloader = dict(dataset=dataset)\n'
        "model = dict(train_cfg=dict(augments=dict(type='ShuffleMix', alpha=2.0)))\n"
        'randomness = dict(seed=5)\n'
    )
    return path


def write_pictures(work_dir: Path, count: int) -> list[str]:
    """Write pictures of one colour."""
    folder = work_dir / 'pictures'
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f'{index}.png' for index in range(count)]
    for path in paths:
        Image.new('RGB', (160, 120), COLOUR).save(path)
    return list(map(str, paths))


def multi_label_records(paths: Sequence[str | None]) -> list[dict[str, Any]]:
    """Random scores; every third image has a difficult cat."""
    rng = np.random.default_rng(0)
    records = []
    for index, path in enumerate(paths):
        labels = [1] if index % 3 == 0 else [index % 3, 0] if index % 2 else [index % 3]
        record: dict[str, Any] = {'sample_idx': index, 'img_path': path}
        record['gt_label'] = sorted(set(labels))
        record['gt_label_difficult'] = [0] if index % 3 == 0 else []
        record['pred_score'] = rng.random(3).round(4).tolist()
        records.append(record)
    return records


def write_run(folder: Path, images: int = 24) -> Path:
    """Write a finished run with predictions, and return its work folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_config(folder, max_epochs=3)
    write_start(folder, '20260101_000000', [1, 2, 3])
    records = multi_label_records(write_pictures(folder, images))
    (folder / 'predictions.json').write_text(json.dumps(records))
    return folder
