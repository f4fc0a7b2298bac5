"""The VOC2007 configs on real full-size photographs, with a ResNet-18 in place of the 101."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from mmengine.config import Config
from mmpretrain import ImageClassificationInferencer

from tests.integration.recording import recorded_mixing
from tests.own_pictures import unpack_voc_subset
from tests.tiny_job import ROOT
from tests.tool_runner import run_tool

CONFIGS = sorted((ROOT / 'configs' / 'voc07').glob('*.py'))


@pytest.fixture(scope='module')
def root(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The subset of VOC2007, with lists of a few of its images beside the official ones."""
    tree = unpack_voc_subset(shared_data, tmp_path_factory.mktemp('voc'))
    lists = tree / 'ImageSets' / 'Main'
    for split in ('trainval', 'test'):
        names = (lists / f'{split}.txt').read_text().split()[:8]
        (lists / f'few_{split}.txt').write_text('\n'.join(names))
    return tree


def options(root: Path, folder: Path, name: str) -> list[str]:
    """Another network, few images, no download; the pipelines stay as they are."""
    chosen = [
        'model.backbone.depth=18',
        'model.backbone.init_cfg=None',
        'model.head.in_channels=512',
        'train_dataloader.batch_size=4',
        'optim_wrapper.optimizer.lr=0.01',
        'default_hooks.checkpoint.save_best=None',
    ]
    for loader, split in (('train', 'trainval'), ('val', 'test'), ('test', 'test')):
        chosen += [
            f'{loader}_dataloader.dataset.data_root={root}',
            f'{loader}_dataloader.dataset.split=few_{split}',
            f'{loader}_dataloader.num_workers=0',
        ]
    if name.startswith('mlgcn'):
        chosen.append(f'model.head.label_graph={folder / "graph.npz"}')
    return chosen


@pytest.mark.slow
@pytest.mark.parametrize('config', CONFIGS, ids=lambda path: path.stem)
def test_train_test_resume_predict(root: Path, tmp_path: Path, config: Path) -> None:
    name = config.stem
    common = ['--work-dir', tmp_path]
    small = ['--cfg-options', *options(root, tmp_path, name)]
    for epochs, resume in ((1, []), (2, ['--resume'])):
        with recorded_mixing() as plans:
            run_tool('train', config, *common, *resume, *small, f'train_cfg.max_epochs={epochs}')
        assert len(plans) == (2 if 'shufflemix' in name else 0)
    checkpoint = tmp_path / 'epoch_2.pth'
    assert torch.load(checkpoint, weights_only=False)['meta']['iter'] == 4

    out = tmp_path / 'records.json'
    run_tool('test', config, checkpoint, *common, '--out', out, *small)
    records = json.loads(out.read_text())
    names = (root / 'ImageSets' / 'Main' / 'few_test.txt').read_text().split()
    assert [Path(record['img_path']).stem for record in records] == names

    cfg = Config.fromfile(tmp_path / config.name)
    inferencer = ImageClassificationInferencer(cfg, pretrained=str(checkpoint), device='cpu')
    results = inferencer([record['img_path'] for record in records[:2]])
    for record, result in zip(records, results, strict=False):
        np.testing.assert_allclose(result['pred_scores'], record['pred_score'], atol=1e-5)
