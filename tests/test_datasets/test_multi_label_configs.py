"""The shipped data configs, run on small trees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from mmengine.config import Config
from mmengine.registry import DefaultScope
from mmengine.runner import Runner
from mmpretrain.registry import MODELS
from PIL import Image

import mmshufflemix  # noqa: F401
from tests.voc_tree import write_voc_tree

BASES = Path(__file__).resolve().parents[2] / 'configs' / '_base_' / 'datasets'


def write_voc(root):
    images = {str(i): [('dog', False), ('cat', i % 2 == 0)] for i in range(5)}
    write_voc_tree(root, images, {'trainval': list(images), 'test': list(images)})


def write_coco(root):
    (root / 'annotations').mkdir(parents=True)
    for split in ('train2014', 'val2014'):
        (root / split).mkdir()
        content = {
            'images': [{'id': i, 'file_name': f'{i}.jpg'} for i in range(5)],
            'categories': [{'id': i, 'name': f'name {i}'} for i in range(1, 81)],
            'annotations': [{'id': i, 'image_id': i, 'category_id': 80} for i in range(3)],
        }
        (root / 'annotations' / f'instances_{split}.json').write_text(json.dumps(content))
        for i in range(5):
            Image.new('RGB', (40, 32)).save(root / split / f'{i}.jpg')


def loaders(name, root):
    cfg = Config.fromfile(BASES / f'{name}.py')
    built = []
    for key in ('train_dataloader', 'val_dataloader', 'test_dataloader'):
        cfg[key].update(batch_size=2, num_workers=0)
        cfg[key].dataset.data_root = str(root)
        with DefaultScope.overwrite_default_scope('mmpretrain'):
            built.append(Runner.build_dataloader(cfg[key], seed=0))
    preprocessor = MODELS.build({'type': 'ClsDataPreprocessor', **cfg.data_preprocessor})
    return preprocessor, built


@pytest.mark.parametrize(('name', 'size'), [('voc07_448', 448), ('voc07_224', 224)])
def test_voc(tmp_path, name, size):
    write_voc(tmp_path)
    preprocessor, (train, val, test) = loaders(name, tmp_path)
    assert len(train) == 2  # the odd fifth image is dropped
    assert (len(val), len(test)) == (3, 3)
    batch = preprocessor(next(iter(train)), training=True)
    assert batch['inputs'].shape == (2, 3, size, size)
    cat_and_dog = torch.zeros(20)
    cat_and_dog[[7, 11]] = 1
    for sample in batch['data_samples']:
        assert torch.equal(sample.gt_score, cat_and_dog)
    first, second = preprocessor(next(iter(val)))['data_samples']
    assert (first.gt_label.tolist(), first.gt_label_difficult) == ([11], [7])
    assert (second.gt_label.tolist(), second.gt_label_difficult) == ([7, 11], [])
    assert first.img_shape == (size, size)


def test_coco(tmp_path):
    write_coco(tmp_path / 'coco')
    preprocessor, (train, val, test) = loaders('coco14_448', tmp_path / 'coco')
    assert (len(train), len(val), len(test)) == (2, 3, 3)
    batch = preprocessor(next(iter(train)), training=True)
    assert batch['inputs'].shape == (2, 3, 448, 448)
    scores = [s.gt_score for b in val for s in preprocessor(b)['data_samples']]
    expected = torch.zeros(5, 80)
    expected[:3, 79] = 1
    assert torch.equal(torch.stack(scores), expected)
