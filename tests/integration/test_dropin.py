"""The one-line drop-in on MMPretrain's own configs and its own, unmodified tools/train.py."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mmpretrain
import numpy as np
import pytest
import torch
from mmengine.config import Config
from mmengine.optim import OptimWrapper
from mmengine.runner import Runner
from mmpretrain.registry import MODELS
from mmpretrain.structures import DataSample
from PIL import Image

import mmshufflemix
from tests.integration.small_cifar import write_cifar
from tests.integration.tiny import seed_all

ROOT = Path(__file__).resolve().parents[2]
MIM = Path(mmpretrain.__file__).parent / '.mim'
ONE = 'model.train_cfg.augments.type'
FIRST = 'model.train_cfg.augments.0.type'
SHUFFLEMIX = 'mmshufflemix.ShuffleMix'

pytestmark = pytest.mark.skipif(
    not (MIM / 'tools/train.py').is_file(), reason=f'MMPretrain keeps no tools in {MIM}'
)


def stages(prefix: str, axis: int, *channels: int) -> list[tuple[str, int, int]]:
    return [(f'{prefix}{number}', c, axis) for number, c in enumerate(channels)]


RESNET = [(f'layer{k}', 32 * 2**k, 1) for k in (1, 2, 3, 4)]
MOBILENET_V2 = [('layer2', 24, 1), ('layer3', 32, 1), ('layer5', 96, 1), ('conv2', 1280, 1)]
MOBILENET_V3 = [('layer1', 16, 1), ('layer3', 24, 1), ('layer8', 48, 1), ('layer12', 576, 1)]
EFFICIENTNET = [
    ('layers.2', 24, 1),
    ('layers.3', 40, 1),
    ('layers.4', 112, 1),
    ('layers.6', 1280, 1),
]
VIT = [(f'layers.{k}', 192, 2) for k in (2, 5, 8, 11)]
SWIN = stages('stages.', 2, 96, 192, 384, 768)
CONVNEXT = stages('stages.', 1, 40, 80, 160, 320)

SMALL_VIT = {
    'model.backbone.arch': 'deit-tiny',
    'model.head.in_channels': 192,
    'model.head.hidden_dim': 64,
}
SMALL_CONVNEXT = {'model.backbone.arch': 'atto', 'model.head.in_channels': 320}

# Config: the one line, what makes it small, and the stages to be mixed.
CONFIGS = {
    'resnet/resnet18_8xb16_cifar10.py': (ONE, {}, RESNET),
    'mobilenet_v3/mobilenet-v3-small_8xb16_cifar10.py': (ONE, {}, MOBILENET_V3),
    'mobilenet_v2/mobilenet-v2_8xb32_in1k.py': (ONE, {}, MOBILENET_V2),
    'efficientnet/efficientnet-b0_8xb32_in1k.py': (ONE, {}, EFFICIENTNET),
    'vision_transformer/vit-base-p16_64xb64_in1k.py': (ONE, SMALL_VIT, VIT),
    'swin_transformer/swin-tiny_16xb64_in1k.py': (FIRST, {}, SWIN),
    'convnext/convnext-tiny_32xb128_in1k.py': (FIRST, SMALL_CONVNEXT, CONVNEXT),
}


def mixed_layers(expected: list[tuple[str, int, int]]) -> str:
    sites = [('input', 3, 1), *((f'backbone.{name}', *rest) for name, *rest in expected)]
    return (
        'Mixed layers: '
        + ', '.join(f'{n} ({c} channels, axis {a})' for n, c, a in sites)
        + ' (by ShuffleMix)'
    )


def build(config: str, options: dict, folder: Path) -> torch.nn.Module:
    """Build the model of a config as tools/train.py does."""
    cfg = Config.fromfile(MIM / 'configs' / config)
    cfg.work_dir = str(folder)
    cfg.experiment_name = f'{folder.name}-{len(options)}'
    cfg.merge_from_dict(dict(options))
    return Runner.from_cfg(cfg).model.train()


def write_imagenet(root: Path, count: int) -> None:
    rng = np.random.default_rng(0)
    (root / 'train').mkdir(parents=True)
    lines = []
    for index in range(count):
        picture = rng.integers(0, 256, (240, 240, 3), dtype=np.uint8)
        Image.fromarray(picture).save(root / 'train' / f'{index}.jpg')
        lines.append(f'{index}.jpg {index}\n')
    (root / 'train.txt').write_text(''.join(lines))


def data_options(config: str, root: Path) -> dict[str, object]:
    """Options that point a config at a small data set, which they write."""
    if 'cifar' in config:
        write_cifar(root, 16)
        dataset = {'type': 'tests.integration.small_cifar.SmallCIFAR10', 'data_root': root}
        loaders = ('train_dataloader', 'val_dataloader')
    else:
        write_imagenet(root, 16)
        dataset = {'data_root': root, 'ann_file': 'train.txt'}
        loaders = ('train_dataloader',)
    options: dict[str, object] = {}
    for loader in loaders:
        options |= {f'{loader}.batch_size': 8, f'{loader}.num_workers': 0}
        options |= {f'{loader}.dataset.{key}': value for key, value in dataset.items()}
    return options


@pytest.mark.parametrize(
    'config',
    [
        config if 'resnet18' in config else pytest.param(config, marks=pytest.mark.slow)
        for config in CONFIGS
    ],
)
def test_train_py_of_mmpretrain_mixes_hidden_layers_by_one_option(config, tmp_path):
    line, small, expected = CONFIGS[config]
    options = small | data_options(config, tmp_path / 'data') | {'train_cfg.max_epochs': 1}
    if line == FIRST:
        # Both steps are to use the first of two augments; and MMEngine refuses a schedule that
        # begins after the last epoch.
        options |= {'model.train_cfg.probs': '1.0,0.0', 'param_scheduler.1.begin': 0}
    command = [
        sys.executable,
        MIM / 'tools/train.py',
        MIM / 'configs' / config,
        '--work-dir',
        tmp_path / 'job',
        '--no-persistent-workers',
        *([] if 'cifar' in config else ['--no-validate']),
        '--cfg-options',
        *(f'{key}={value}' for key, value in options.items()),
        f'{line}={SHUFFLEMIX}',
    ]

    job = subprocess.run(
        [str(part) for part in command],
        cwd=tmp_path,
        env={**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1'},
        capture_output=True,
        text=True,
        timeout=540,
    )

    output = job.stdout + job.stderr
    assert job.returncode == 0, output[-2000:]
    assert output.count(mixed_layers(expected)) == 1
    checkpoint = torch.load(tmp_path / 'job/epoch_1.pth', weights_only=False)
    assert list(checkpoint['state_dict']) == list(build(config, small, tmp_path).state_dict())
    assert checkpoint['message_hub']['runtime_info']['iter'] == 1


def batch(size: int) -> dict:
    rng = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (2, 3, size, size), dtype=torch.uint8, generator=rng)
    return dict(inputs=images, data_samples=[DataSample().set_gt_label(k) for k in range(2)])


@pytest.mark.parametrize('config', CONFIGS)
def test_configs_with_the_one_line_train(config, tmp_path, monkeypatch):
    line, small, _ = CONFIGS[config]
    shipped = Config.fromfile(MIM / 'configs' / config).model.get('train_cfg') or {}
    shipped = shipped.get('augments', {})
    first, *others = shipped if isinstance(shipped, list) else [shipped]

    model = build(config, small | {line: SHUFFLEMIX}, tmp_path)
    augments = model.data_preprocessor.batch_augments.augments

    assert type(augments[0]) is mmshufflemix.ShuffleMix
    assert augments[0]._draws['alpha'] == first.get('alpha', 1.0)
    assert [type(augment).__name__ for augment in augments[1:]] == [o['type'] for o in others]
    assert [augment.alpha for augment in augments[1:]] == [o['alpha'] for o in others]

    used = set()
    for kind in {type(augment) for augment in augments}:
        call = kind.__call__

        def noted(self, *args, call=call):
            used.add(type(self).__name__)
            return call(self, *args)

        monkeypatch.setattr(kind, '__call__', noted)
    seed_all(0)
    optim_wrapper = OptimWrapper(torch.optim.SGD(model.parameters(), lr=1e-4))
    hidden = 0
    for _ in range(20):
        model.hidden_mixer.layers.fired = 0
        losses = model.train_step(batch(224 if line == FIRST or small else 64), optim_wrapper)
        assert torch.isfinite(losses['loss'])
        hidden += model.hidden_mixer.layers.fired
        if hidden and len(used) == len(augments):
            break
    assert hidden
    assert used == {'ShuffleMix', *(other['type'] for other in others)}


PYTHON_CONFIG = """
from mmpretrain.models import GlobalAveragePooling, ImageClassifier, LinearClsHead, ResNet_CIFAR
from {module} import {name}

model = dict(
    type=ImageClassifier,
    backbone=dict(type=ResNet_CIFAR, depth=18, base_channels=8, stem_channels=8),
    neck=dict(type=GlobalAveragePooling),
    head=dict(type=LinearClsHead, num_classes=10, in_channels=64),
    data_preprocessor=dict(num_classes=10, mean=[127.5] * 3, std=[127.5] * 3),
    train_cfg=dict(augments=dict(type={name}, alpha=0.7)),
)
"""


@pytest.mark.parametrize(
    ('module', 'name', 'options'),
    [
        ('mmshufflemix', 'ShuffleMix', {}),
        ('mmpretrain.models.utils.batch_augments', 'Mixup', {ONE: SHUFFLEMIX}),
    ],
)
def test_configs_in_pure_python_take_the_class_or_the_option(module, name, options, tmp_path):
    file = tmp_path / 'config.py'
    file.write_text(PYTHON_CONFIG.format(module=module, name=name))
    cfg = Config.fromfile(file)
    cfg.merge_from_dict(options)
    model = MODELS.build(cfg.model).train()

    (augment,) = model.data_preprocessor.batch_augments.augments
    assert type(augment) is mmshufflemix.ShuffleMix
    assert augment._draws['alpha'] == 0.7
    augment.layers = ('layer3',)
    model.train_step(batch(32), OptimWrapper(torch.optim.SGD(model.parameters(), lr=1e-4)))
    assert model.hidden_mixer.layers.fired == 1
