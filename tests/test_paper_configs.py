"""The configs of the single-label experiments against the facts of the paper."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from mmcv.transforms import Compose
from mmengine.config import Config
from mmengine.optim import build_optim_wrapper
from mmpretrain.registry import DATASETS, METRICS, MODELS, TRANSFORMS
from PIL import Image

import mmshufflemix  # noqa: F401
from tests.tiny_job import ROOT

AUGMENTS: dict[str, dict[str, Any]] = {
    'input_mixup': dict(type='InputMixup', alpha=1.0),
    'manifold_mixup': dict(type='ManifoldMixup', alpha=1.0, layers='auto'),
    'shufflemix': dict(type='ShuffleMix', alpha=1.0, ratio=0.5, mode='soft', layers='auto'),
    'shufflemix_hard': dict(type='ShuffleMix', ratio=0.5, mode='hard', layers='auto'),
    'nfm': dict(type='NoisyFeatureMixup', alpha=1.0, layers='auto', add_noise=0.4, mult_noise=0.2),
    'shufflemix_nfm': dict(
        type='ShuffleMixNFM',
        alpha=1.0,
        ratio=0.5,
        mode='soft',
        layers='auto',
        add_noise=0.4,
        mult_noise=0.2,
    ),
    'cutmix': dict(type='CutMix', alpha=1.0),
    'resizemix': dict(type='ResizeMix', alpha=1.0),
}
GENERAL = {'cifar10': 10, 'cifar100': 100, 'tiny_imagenet': 200}
FINE = {'cub': 200, 'cars': 196, 'aircraft': 100}
CLASSES = GENERAL | FINE
NETS = ('preact18', 'preact34', 'wide18_2')
ROWS = [
    *(f'{d}/{n}_{m}' for d in GENERAL for n in NETS for m in ('baseline', 'dropout', *AUGMENTS)),
    *(
        f'{d}/{n}_{m}'
        for d in FINE
        for n in ('resnet34', 'resnet50')
        for m in ('baseline', 'input_mixup', 'manifold_mixup', 'shufflemix')
    ),
]
BASELINES = [row for row in ROWS if row.endswith('baseline')]


@cache
def read(row: str) -> Config:
    return Config.fromfile(ROOT / 'configs' / f'{row}.py')


def parts(row: str) -> tuple[str, str, str]:
    """Split into data set, network and method."""
    data, name = row.split('/')
    network = next(net for net in (*NETS, 'resnet34', 'resnet50') if name.startswith(net))
    return data, network, name.removeprefix(f'{network}_')


def test_there_is_a_config_for_every_row_and_no_other():
    found = [
        str(path.relative_to(ROOT / 'configs').with_suffix(''))
        for data in CLASSES
        for path in (ROOT / 'configs' / data).glob('*.py')
        if not path.stem.endswith(('_fast', '_gpu'))
    ]
    assert sorted(found) == sorted(ROWS)


@pytest.mark.parametrize('row', ROWS)
def test_a_row_is_short_and_changes_one_thing(row: str):
    lines = (ROOT / 'configs' / f'{row}.py').read_text().splitlines()
    assert len(lines) <= 12
    data, network, method = parts(row)
    base = read(f'{data}/{network}_baseline').to_dict()
    cfg = read(row).to_dict()
    assert base['model'].get('train_cfg') is None
    assert 'augments' not in base
    if method == 'dropout':
        assert cfg['model']['head'].pop('dropout') == 0.2
        assert cfg['model']['head'].pop('type') == 'DropoutLinearClsHead'
        base['model']['head'].pop('type')
    elif method != 'baseline':
        assert cfg['model'].pop('train_cfg') == dict(augments=AUGMENTS[method])
        assert cfg.pop('augments') == AUGMENTS[method]
    assert cfg == base


@pytest.mark.parametrize('method', AUGMENTS)
def test_the_model_gets_the_augment(method: str):
    cfg = read(f'cifar10/preact18_{method}')
    preprocessor = MODELS.build(
        dict(
            type='ClsDataPreprocessor',
            **cfg.data_preprocessor,
            to_onehot=True,
            batch_augments=cfg.model.train_cfg,
        )
    )
    (augment,) = preprocessor.batch_augments.augments
    assert type(augment).__name__ == AUGMENTS[method]['type']
    assert preprocessor.batch_augments.probs is None


def count_preact(blocks: tuple[int, ...], width: int, num_classes: int) -> int:
    """Count the parameters of a PreActResNet of basic blocks layer by layer."""
    total, incoming = 3 * 64 * 9, 64
    for stage, number in enumerate(blocks):
        outgoing = 64 * 2**stage * width
        for block in range(number):
            total += 2 * incoming + 9 * incoming * outgoing + 2 * outgoing + 9 * outgoing**2
            if incoming != outgoing or (stage > 0 and block == 0):
                total += incoming * outgoing
            incoming = outgoing
    return total + incoming * num_classes + num_classes


def expected_parameters(network: str, num_classes: int) -> int:
    if network.startswith('resnet'):
        # torchvision's counts with 1,000 classes, less its last layer.
        total, features = {'resnet34': (21797672, 512), 'resnet50': (25557032, 2048)}[network]
        return total - 1000 * (features + 1) + num_classes * (features + 1)
    blocks = (3, 4, 6, 3) if network == 'preact34' else (2, 2, 2, 2)
    return count_preact(blocks, 2 if network == 'wide18_2' else 1, num_classes)


@pytest.mark.parametrize('row', [row for row in ROWS if parts(row)[2] in ('baseline', 'dropout')])
def test_builds_with_as_many_parameters_as_the_paper_s_network(row: str):
    data, network, method = parts(row)
    cfg = read(row)
    if network.startswith('resnet'):
        model = MODELS.build(cfg.model)
    else:
        with torch.device('meta'):
            model = MODELS.build(cfg.model)
    assert sum(p.numel() for p in model.parameters()) == expected_parameters(network, CLASSES[data])
    assert CLASSES[data] == cfg.model.head.num_classes == cfg.data_preprocessor.num_classes
    rates = [m.p for m in model.modules() if isinstance(m, torch.nn.Dropout)]
    assert rates == ([0.2] if method == 'dropout' else [])


def test_the_count_the_protocol_names():
    assert expected_parameters('preact18', 10) == 11_171_146


@pytest.mark.parametrize('row', ['cifar10/preact18_baseline', 'cifar10/preact18_dropout'])
def test_networks_keep_pytorch_s_initialisation(row: str):
    model = MODELS.build(read(row).model)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    model.init_weights()
    assert all(torch.equal(before[key], value) for key, value in model.state_dict().items())
    for layer in (model.head.fc, model.backbone.conv1):
        fan_in = layer.weight[0].numel()
        assert 0.98 * fan_in**-0.5 < layer.weight.abs().max().item() <= fan_in**-0.5


@pytest.mark.parametrize('row', BASELINES)
def test_schedule(row: str):
    cfg = read(row)
    small = parts(row)[0] in GENERAL
    milestones = (100, 150, 180) if small else (80, 150, 180)
    model = torch.nn.ModuleDict({'backbone': torch.nn.Linear(1, 1), 'head': torch.nn.Linear(1, 1)})
    wrapper = build_optim_wrapper(model, cfg.optim_wrapper)
    rates = {p: group['lr'] for group in wrapper.param_groups for p in group['params']}
    assert rates[model['head'].weight] == pytest.approx(0.1 if small else 0.01)
    assert rates[model['backbone'].weight] == pytest.approx(0.1 if small else 0.001)
    for group in wrapper.param_groups:
        assert group['momentum'] == 0.9
        assert group['weight_decay'] == (5e-4 if small else 1e-4)
        assert group['nesterov'] == (not small)
    assert cfg.param_scheduler == dict(
        type='MultiStepLR', by_epoch=True, milestones=list(milestones), gamma=0.1
    )
    assert cfg.train_cfg == dict(by_epoch=True, max_epochs=200, val_interval=1)
    assert cfg.train_dataloader.batch_size == (128 if small else 16)
    assert cfg.train_dataloader.drop_last
    assert METRICS.build(cfg.val_evaluator).topk == (
        (1, 5) if row.startswith('tiny_imagenet') else (1,)
    )
    assert 'save_best' not in cfg.default_hooks.checkpoint


@pytest.mark.parametrize('row', [row for row in BASELINES if row.startswith('cub')])
def test_learning_rates_of_the_real_fine_grained_network(row: str):
    model = MODELS.build(read(row).model)
    names = {parameter: name for name, parameter in model.named_parameters()}
    wrapper = build_optim_wrapper(model, read(row).optim_wrapper)
    found: dict[float, set[str]] = {}
    for group in wrapper.optimizer.param_groups:
        owners = {names[parameter].split('.')[0] for parameter in group['params']}
        found.setdefault(round(group['lr'], 9), set()).update(owners)
    assert found == {0.001: {'backbone'}, 0.01: {'head'}}
    assert read(row).model.backbone.init_cfg.checkpoint == (f'torchvision://{parts(row)[1]}')


MEANS = {
    'cifar10': ([125.3, 123.0, 113.9], [63.0, 62.1, 66.7]),
    'cifar100': ([129.3, 124.1, 112.4], [68.2, 65.4, 70.4]),
    'tiny_imagenet': ([127.5] * 3, [127.5] * 3),
}
IMAGENET = ([123.675, 116.28, 103.53], [58.395, 57.12, 57.375])


@pytest.mark.parametrize('data', CLASSES)
def test_preprocessing(data: str):
    network = 'preact18' if data in GENERAL else 'resnet34'
    cfg = read(f'{data}/{network}_baseline')
    mean, std = MEANS.get(data, IMAGENET)
    assert (cfg.data_preprocessor.mean, cfg.data_preprocessor.std) == (mean, std)
    # MMPretrain's CIFAR readers give RGB, its LoadImageFromFile gives BGR.
    assert cfg.data_preprocessor.to_rgb == (not data.startswith('cifar'))
    train = [transform.type for transform in cfg.train_dataloader.dataset.pipeline]
    test = [transform.type for transform in cfg.test_dataloader.dataset.pipeline]
    assert ('LoadImageFromFile' in train) == ('LoadImageFromFile' in test)
    assert ('LoadImageFromFile' in train) == cfg.data_preprocessor.to_rgb
    assert train[-3:] == ['RandomCrop', 'RandomFlip', 'PackInputs']
    crop = cfg.train_dataloader.dataset.pipeline[-3]
    size = {'cifar10': 32, 'cifar100': 32, 'tiny_imagenet': 64}.get(data, 448)
    assert crop.crop_size == size
    assert crop.get('padding') == (4 if data in GENERAL else None)
    assert not any(name.startswith('Random') for name in test)
    for key in ('train_dataloader', 'val_dataloader', 'test_dataloader'):
        assert DATASETS.get(cfg[key].dataset.type) is not None
    assert cfg.train_dataloader.dataset.split in ('train', 'trainval')
    assert cfg.test_dataloader.dataset.split == ('val' if data == 'tiny_imagenet' else 'test')


@pytest.mark.parametrize(('data', 'size'), [('cub', (1024, 512)), ('cars', (512, 512))])
def test_fine_grained_pictures_are_resized_and_cropped(data: str, size: tuple[int, int]):
    """CUB keeps the aspect of a 120 x 60 picture, the other two drop it; as torchvision does."""
    pixels = np.random.default_rng(0).integers(0, 256, (60, 120, 3), dtype=np.uint8)
    resized = np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BILINEAR))
    top, left = (size[1] - 448) // 2, (size[0] - 448) // 2
    expected = resized[top : top + 448, left : left + 448]
    for name in (data, 'aircraft' if data == 'cars' else data):
        cfg = read(f'{name}/resnet34_baseline')
        pipeline = Compose(
            [TRANSFORMS.build(step) for step in cfg.test_dataloader.dataset.pipeline[1:-1]]
        )
        np.testing.assert_array_equal(pipeline({'img': pixels.copy()})['img'], expected)


def test_nothing_here_names_a_machine():
    for row in ROWS:
        for key in ('train_dataloader', 'test_dataloader'):
            assert not Path(read(row)[key].dataset.data_root).is_absolute()
