"""What users met when they mixed batches of their own data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from mmengine.config import Config
from mmengine.registry import DefaultScope
from mmengine.runner import Runner
from mmpretrain.datasets import CIFAR10
from mmpretrain.registry import MODELS
from PIL import Image

from tests.integration.recording import recorded_mixing
from tests.integration.small_cifar import SmallCIFAR10, write_cifar
from tests.integration.tiny import batch, build_model, model_config, seed_all, sgd
from tests.test_configs import reduced
from tests.tiny_job import ROOT
from tests.tool_runner import run_tool
from tests.voc_tree import write_voc_tree

LABELS = [[0], [1, 2], [0, 2, 3], [3]]
AT_INPUT = {
    'InputMixup': dict(type='InputMixup', alpha=1.0),
    'per sample': dict(type='InputMixup', per_sample=True),
    'ShuffleMix': dict(type='ShuffleMix', layers=[0]),
    'hard': dict(type='ShuffleMix', layers=[0], mode='hard', per_sample=True),
    "MMPretrain's Mixup": dict(type='Mixup', alpha=1.0),
}


def multi_label_loader(folder: Path) -> Any:
    """Batches of MMPretrain's own data set: only pixel i of picture i is white."""
    rows = []
    for index, labels in enumerate(LABELS):
        pixels = np.zeros((8, 8, 3), np.uint8)
        pixels[0, index] = 255
        Image.fromarray(pixels).save(folder / f'{index}.png')
        rows.append({'img_path': f'{index}.png', 'gt_label': labels})
    content = {'metainfo': {'classes': list('abcd')}, 'data_list': rows}
    (folder / 'train.json').write_text(json.dumps(content))
    loader = dict(
        batch_size=4,
        num_workers=0,
        sampler=dict(type='DefaultSampler', shuffle=False),
        collate_fn=dict(type='default_collate'),
        dataset=dict(
            type='MultiLabelDataset',
            ann_file='train.json',
            data_root=str(folder),
            pipeline=[dict(type='LoadImageFromFile'), dict(type='PackInputs')],
        ),
    )
    with DefaultScope.overwrite_default_scope('mmpretrain'):
        return Runner.build_dataloader(loader, seed=0)


@pytest.mark.parametrize('augment', AT_INPUT.values(), ids=AT_INPUT)
def test_mixed_targets_follow_the_mixed_images(augment: dict, tmp_path: Path) -> None:
    """Pixel j of mixed image i is the share of image j in it, and must be that of its labels."""
    config = model_config()
    config['head'] = dict(type='MultiLabelLinearClsHead', num_classes=4, in_channels=64)
    config['data_preprocessor'] = dict(
        num_classes=4, mean=[0] * 3, std=[255] * 3, batch_augments=dict(augments=augment)
    )
    model = MODELS.build(config).train()
    labels = torch.zeros(4, 4)
    for row, present in enumerate(LABELS):
        labels[row, present] = 1
    seen: list[dict] = []
    model.register_forward_pre_hook(lambda m, args, kw: seen.append(kw), with_kwargs=True)
    loader, optim = multi_label_loader(tmp_path), sgd(model)
    for seed in range(5):
        seed_all(seed)
        loss = model.train_step(next(iter(loader)), optim)['loss']
        assert torch.isfinite(loss)
        shares = seen[-1]['inputs'][:, :, 0, :4].mean(dim=1)
        targets = torch.stack([sample.gt_score for sample in seen[-1]['data_samples']])
        torch.testing.assert_close(shares.sum(1), torch.ones(4))
        torch.testing.assert_close(targets, shares @ labels)
        assert (targets.sum(1) > 1).any()


def test_all_and_no_channels_of_a_hidden_layer() -> None:
    """ratio=1 is Manifold Mixup, ratio=0 is no mixing, of features and of labels."""

    def losses(augment: dict | None) -> list[float]:
        model = build_model(augment)
        optim = sgd(model)
        seed_all(3)
        return [model.train_step(batch(seed=i), optim)['loss'].item() for i in range(2)]

    layers = dict(layers=[2])
    manifold = losses(dict(type='ManifoldMixup', **layers))
    assert losses(dict(type='ShuffleMix', ratio=1, **layers)) == manifold
    plain = losses(None)
    assert losses(dict(type='ShuffleMix', ratio=0, **layers)) == pytest.approx(plain, rel=1e-6)
    assert manifold != pytest.approx(plain, rel=1e-3)


BACKBONES = {
    'ResNet': dict(type='ResNet', depth=18, stem_channels=8, base_channels=8),
    'ResNet_CIFAR': dict(type='ResNet_CIFAR', depth=18, stem_channels=8, base_channels=8),
    'PreActResNet': dict(type='PreActResNet', depth=18, base_channels=8),
}


@pytest.mark.parametrize('backbone', BACKBONES.values(), ids=BACKBONES)
def test_layers_by_name_on_every_resnet(backbone: dict) -> None:
    config = model_config(dict(type='ShuffleMix', layers=['layer1', 'layer2']))
    config['backbone'] = backbone
    model = MODELS.build(config).train()
    data = batch()
    data['inputs'] = data['inputs'].repeat(1, 1, 2, 2)
    optim = sgd(model)
    seed_all(0)
    with recorded_mixing() as plans:
        for _ in range(6):
            model.train_step(dict(data), optim)
    assert [plan.site.channels for plan in plans if plan.site.name == 'backbone.layer1'][:1] == [8]
    assert {plan.site.name for plan in plans} == {'backbone.layer1', 'backbone.layer2'}
    assert len(plans) == 6


@pytest.mark.parametrize('config', ['cifar10/preact18_shufflemix', 'voc07/mlgcn_shufflemix'])
def test_the_single_image_of_a_last_batch_is_left_out(
    config: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """33 images in batches of 16: two full batches."""
    monkeypatch.setattr(CIFAR10, 'train_list', SmallCIFAR10.train_list)
    monkeypatch.setattr(CIFAR10, 'test_list', SmallCIFAR10.test_list)
    images = {str(index): [('dog', False), ('cat', index % 2 == 0)] for index in range(33)}
    write_voc_tree(tmp_path / 'voc07', images, {'trainval': list(images), 'test': ['0', '1']})
    write_cifar(tmp_path / 'cifar10', 33)
    path = ROOT / 'configs' / f'{config}.py'
    options = reduced(Config.fromfile(path), tmp_path / path.parent.name, tmp_path)
    options += ['train_dataloader.batch_size=16']
    if 'cifar' in config:
        options += ['model.backbone.base_channels=4', 'model.head.in_channels=32']
    run_tool('train', path, '--work-dir', tmp_path / 'run', '--cfg-options', *options)
    saved = torch.load(tmp_path / 'run' / 'epoch_1.pth', weights_only=True)
    assert saved['meta']['iter'] == 2


def test_data_that_is_there_is_not_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_cifar(tmp_path, 3)

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError('downloaded')

    monkeypatch.setattr('mmpretrain.datasets.cifar.download_and_extract_archive', refuse)
    assert len(SmallCIFAR10(data_root=str(tmp_path), split='train')) == 3
    with pytest.raises(AssertionError, match='downloaded'):
        SmallCIFAR10(data_root=str(tmp_path / 'empty'), split='train')
