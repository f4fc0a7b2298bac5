from __future__ import annotations

import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest
import torch
from mmengine.runner import load_checkpoint
from mmpretrain.registry import MODELS
from torch import nn

from mmshufflemix.models.convert_official import (
    convert_file,
    expected_weights,
    find_differences,
    read_official,
    rename_official,
    state_dict_of,
)
from tests.tool_runner import call_tool

TOOL = Path(__file__).resolve().parents[2] / 'tools' / 'convert_official.py'
DEPTHS = {18: (1, (2, 2, 2, 2)), 34: (1, (3, 4, 6, 3)), 50: (4, (3, 4, 6, 3))}


class PreActBlock(nn.Module):
    """A residual block under the authors' names, from (kernel, channels, stride) of each conv."""

    def __init__(self, inputs, convs):
        super().__init__()
        self.depth = len(convs)
        width, stride = inputs, 1
        for i, (kernel, channels, step) in enumerate(convs, 1):
            conv = nn.Conv2d(width, channels, kernel, step, kernel // 2, bias=False)
            self.add_module(f'bn{i}', nn.BatchNorm2d(width))
            self.add_module(f'conv{i}', conv)
            width, stride = channels, stride * step
        self.shortcut = nn.Sequential()
        if (width, stride) != (inputs, 1):
            self.shortcut.append(nn.Conv2d(inputs, width, 1, stride, bias=False))

    def forward(self, x):
        activated = out = torch.relu(self.bn1(x))
        keeps_raw = self.depth == 3 and len(self.shortcut) == 0
        shortcut = x if keeps_raw else self.shortcut(activated)
        for i in range(1, self.depth + 1):
            out = activated if i == 1 else torch.relu(self.get_submodule(f'bn{i}')(out))
            out = self.get_submodule(f'conv{i}')(out)
        return shortcut + out


class PreActResNet(nn.Module):
    """The authors' network: conv1, layer1 to layer4, average pooling, linear."""

    def __init__(self, depth=18, widen=1, num_classes=10):
        super().__init__()
        expansion, num_blocks = DEPTHS[depth]
        self.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
        width = 64
        for stage, n in enumerate(num_blocks, 1):
            channels = 32 * 2**stage * widen
            blocks = []
            for j in range(n):
                step = 2 if j == 0 and stage > 1 else 1
                if expansion == 4:
                    convs = [(1, channels, 1), (3, channels, step), (1, 4 * channels, 1)]
                else:
                    convs = [(3, channels, step), (3, channels, 1)]
                blocks.append(PreActBlock(width, convs))
                width = expansion * channels
            self.add_module(f'layer{stage}', nn.Sequential(*blocks))
        self.linear = nn.Linear(width, num_classes)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        x = self.conv1(x)
        for stage in range(1, 5):
            x = self.get_submodule(f'layer{stage}')(x)
        return self.linear(x.mean(dim=(2, 3)))


class ShuffleMix(nn.Module):
    """The authors' mixing wrapper, as far as it is pickled."""

    def __init__(self, model):
        super().__init__()
        self.model = model
        self.module_list = [model.layer1, model.layer2]
        self.indices = torch.arange(3)
        self.lam = 0.25


def trained(*arguments):
    """A network in which no two norms are alike."""
    torch.manual_seed(0)
    network = PreActResNet(*arguments).eval()
    for name, tensor in network.state_dict().items():
        if 'bn' in name and tensor.is_floating_point():
            tensor.copy_(torch.rand_like(tensor) + 0.5)
        if name.endswith('num_batches_tracked'):
            tensor.fill_(7)
    return network


def classifier(depth, widen, num_classes):
    width = 512 * widen * DEPTHS[depth][0]
    return MODELS.build(
        dict(
            type='ImageClassifier',
            backbone=dict(type='PreActResNet', depth=depth, widen_factor=widen),
            neck=dict(type='GlobalAveragePooling'),
            head=dict(type='LinearClsHead', num_classes=num_classes, in_channels=width),
        )
    ).eval()


@pytest.mark.parametrize('arguments', [(18, 1, 10), (34, 1, 3), (18, 2, 4), (50, 1, 5)])
def test_converted_network_computes_the_same(tmp_path, arguments):
    network = trained(*arguments)
    torch.save(network.state_dict(), tmp_path / 'theirs.pt')
    converted = convert_file(tmp_path / 'theirs.pt', tmp_path / 'ours.pth', *arguments[:2])
    model = classifier(*arguments)
    loaded = load_checkpoint(model, str(tmp_path / 'ours.pth'), map_location='cpu', strict=True)
    x = torch.randn(2, 3, 16, 16)
    with torch.no_grad():
        torch.testing.assert_close(model(x, mode='tensor'), network(x))
    assert int(model.backbone.layer1[0].bn1.num_batches_tracked) == 7
    assert loaded['meta'] == converted['meta']
    assert loaded['meta'] == dict(
        converted_from='theirs.pt',
        depth=arguments[0],
        widen_factor=arguments[1],
        num_classes=arguments[2],
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ['ours.pth', 'theirs.pt']


@pytest.mark.parametrize('key', [None, 'state_dict', 'net', 'model'])
@pytest.mark.parametrize('prefix', ['', 'module.', 'model.', 'module.model.'])
def test_containers_and_prefixes(key, prefix):
    plain = {'conv1.weight': torch.ones(1), 'linear.bias': torch.zeros(1)}
    weights = {prefix + name: value for name, value in plain.items()}
    content = weights if key is None else {key: weights, 'epoch': 200, 'acc': 95.7}
    assert state_dict_of(content) == plain


def test_prefix_of_some_names_only_is_kept():
    weights = {'module.conv1.weight': torch.ones(1), 'linear.bias': torch.zeros(2)}
    assert list(state_dict_of(weights)) == list(weights)


def test_names():
    names = ['conv1.weight', 'layer1.0.shortcut.0.weight', 'linear.weight', 'linear.bias', 'linear']
    assert list(rename_official(dict.fromkeys(names, torch.ones(1)))) == [
        'backbone.conv1.weight',
        'backbone.layer1.0.shortcut.0.weight',
        'head.fc.weight',
        'head.fc.bias',
        'head.fc.',
    ]


@pytest.fixture
def released_names(monkeypatch):
    """Let the classes of this file be pickled as those of the released code."""
    modules = {
        PreActBlock: 'src.models.preact_resnet',
        PreActResNet: 'src.models.preact_resnet',
        ShuffleMix: 'src.shufflemix',
    }
    with monkeypatch.context() as patch:
        for name in {'src', 'src.models', *modules.values()}:
            patch.setitem(sys.modules, name, types.ModuleType(name))
        for kind, module in modules.items():
            patch.setattr(kind, '__module__', module)
            setattr(sys.modules[module], kind.__name__, kind)
        yield


@pytest.mark.parametrize('wrapped', [False, True])
def test_pickled_network_is_read_without_its_classes(tmp_path, released_names, wrapped):
    network = trained(18, 1, 10)
    torch.save(ShuffleMix(network) if wrapped else network, tmp_path / 'theirs.pt')
    for name in [name for name in sys.modules if name.split('.')[0] == 'src']:
        del sys.modules[name]
    weights = read_official(tmp_path / 'theirs.pt')
    assert 'src' not in sys.modules
    expected = network.state_dict()
    assert weights.keys() == expected.keys()
    assert all(torch.equal(weights[name], value) for name, value in expected.items())
    assert not any(weight.requires_grad for weight in weights.values())


def test_differences_in_both_directions_and_in_shape():
    expected = {'a': torch.ones(2), 'b': torch.ones(3), 'c': torch.ones(())}
    weights = {'b': torch.ones(3, 1), 'c': torch.ones(()), 'd': torch.ones(1)}
    assert find_differences(weights, expected) == [
        'missing from the file: a',
        'unknown to the model: d',
        'of another shape: b has (3, 1), the model (3,)',
    ]
    assert find_differences(expected, expected) == []


def test_unmatched_entries_are_reported_and_nothing_is_written(tmp_path, capsys):
    weights = PreActResNet().state_dict()
    del weights['layer3.1.bn2.bias'], weights['linear.weight']
    weights['bn.weight'] = torch.ones(512)
    weights['conv1.weight'] = torch.ones(64, 1, 3, 3)
    torch.save({'net': weights}, tmp_path / 'theirs.pt')
    message = (
        r"theirs\.pt' does not hold a PreActResNet of depth 18, widen_factor 1 and 10 classes: "
        r'4 entries do not match, the first missing from the file: backbone\.layer3\.1\.bn2\.bias; '
    )
    with pytest.raises(ValueError, match=message):
        convert_file(tmp_path / 'theirs.pt', tmp_path / 'ours.pth')
    assert capsys.readouterr().out.splitlines() == [
        'missing from the file: backbone.layer3.1.bn2.bias',
        'missing from the file: head.fc.weight',
        'unknown to the model: backbone.bn.weight',
        'of another shape: backbone.conv1.weight has (64, 1, 3, 3), the model (64, 3, 3, 3)',
    ]
    assert not (tmp_path / 'ours.pth').exists()


def test_expected_weights_are_the_classifiers_and_take_no_memory():
    expected = expected_weights(18, 1, 7)
    assert {value.device.type for value in expected.values()} == {'meta'}
    actual = classifier(18, 1, 7).state_dict()
    assert {name: value.shape for name, value in expected.items()} == {
        name: value.shape for name, value in actual.items()
    }


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        ([1, 2], 'holds no weights but list; give a state dict, on its own or under one of'),
        ({}, 'holds no weights but dict'),
        ({'net': {}}, 'holds no weights but dict'),
        ({'epoch': 3}, "holds int under 'epoch' where a named tensor was expected"),
        ({1: torch.ones(1)}, 'holds Tensor under 1 where a named tensor was expected'),
    ],
)
def test_files_without_weights(tmp_path, content, message):
    torch.save(content, tmp_path / 'theirs.pt')
    with pytest.raises(ValueError, match=re.escape(f"theirs.pt' {message}")):
        read_official(tmp_path / 'theirs.pt')


class Attack:
    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return os.mkdir, (str(self.trace),)


@pytest.mark.parametrize('hidden_in', ['file', 'state dict', 'network'])
def test_programs_in_files_are_refused_and_not_run(tmp_path, released_names, hidden_in):
    content = Attack(tmp_path / 'trace')
    if hidden_in == 'state dict':
        content = {'net': {**PreActResNet().state_dict(), 'extra': content}}
    elif hidden_in == 'network':
        network = PreActResNet()
        network.extra = content
        content = network
    torch.save(content, tmp_path / 'theirs.pt')
    with pytest.raises(ValueError, match='is refused because it asks for more than data'):
        convert_file(tmp_path / 'theirs.pt', tmp_path / 'ours.pth')
    assert [path.name for path in tmp_path.iterdir()] == ['theirs.pt']


def test_command(tmp_path, capsys):
    torch.save(PreActResNet(num_classes=6).state_dict(), tmp_path / 'theirs.pt')
    target = tmp_path / 'new' / 'ours.pth'
    call_tool('convert_official', tmp_path / 'theirs.pt', target)
    expected = f'{target}: PreActResNet18, widen_factor 1, 6 classes, 102 entries\n'
    assert capsys.readouterr().out == expected
    assert target.is_file()


def test_command_ends_with_one_sentence(tmp_path):
    torch.save(PreActResNet(num_classes=6).state_dict(), tmp_path / 'theirs.pt')
    command = [sys.executable, TOOL, tmp_path / 'theirs.pt', tmp_path / 'x.pth', '--num-classes=5']
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-2:] == [
        'of another shape: head.fc.weight has (6, 512), the model (5, 512)',
        'of another shape: head.fc.bias has (6,), the model (5,)',
    ]
    last = done.stderr.splitlines()[-1]
    assert re.match(r"error: '.*theirs\.pt' does not hold a PreActResNet of depth 18, ", last)
    assert 'Traceback' not in done.stderr
    assert not (tmp_path / 'x.pth').exists()
