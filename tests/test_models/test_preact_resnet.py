from __future__ import annotations

import copy
import re

import pytest
import torch
from mmengine.optim import OptimWrapper
from mmpretrain.registry import MODELS
from mmpretrain.structures import DataSample
from torch import nn
from torch.nn import functional as F

from mmshufflemix.layers import resolve_layers
from mmshufflemix.models.preact_resnet import PreActBlock, PreActBottleneck, PreActResNet


def classifier(num_classes=10, width=512, **backbone):
    return MODELS.build(
        dict(
            type='ImageClassifier',
            backbone=dict(type='PreActResNet', **backbone),
            neck=dict(type='GlobalAveragePooling'),
            head=dict(type='LinearClsHead', num_classes=num_classes, in_channels=width),
            data_preprocessor=dict(num_classes=num_classes),
        )
    )


def randomised(module, seed=0):
    """Give norms weights and statistics that a wrong order of operations would show."""
    generator = torch.Generator().manual_seed(seed)
    for norm in module.modules():
        if isinstance(norm, nn.BatchNorm2d):
            for tensor in (norm.weight.data, norm.bias.data, norm.running_mean, norm.running_var):
                tensor.uniform_(0.3, 1.7, generator=generator)
            norm.bias.data.sub_(1)
    return module


def images(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def basic_parameters(num_blocks, widen, num_classes):
    """Closed form: bn1 + conv1 + bn2 + conv2 (+ 1x1 projection), stage by stage."""
    total, inputs = 27 * 64, 64
    for n, channels in zip(num_blocks, (64, 128, 256, 512), strict=True):
        c = channels * widen
        total += 2 * inputs + 9 * inputs * c + 2 * c + 9 * c * c
        total += inputs * c if inputs != c or channels != 64 else 0
        total += (n - 1) * (18 * c * c + 4 * c)
        inputs = c
    return total + inputs * num_classes + num_classes


def bottleneck_parameters(num_blocks, widen, num_classes):
    """Closed form: bn1 + 1x1 + bn2 + 3x3 + bn3 + 1x1 (+ 1x1 projection), stage by stage."""
    total, inputs = 27 * 64, 64
    for n, channels in zip(num_blocks, (64, 128, 256, 512), strict=True):
        c = channels * widen
        total += 2 * inputs + inputs * c + 2 * c + 9 * c * c + 2 * c + 4 * c * c + inputs * 4 * c
        total += (n - 1) * (8 * c + 4 * c * c + 2 * c + 9 * c * c + 2 * c + 4 * c * c)
        inputs = 4 * c
    return total + inputs * num_classes + num_classes


@pytest.mark.parametrize(
    ('depth', 'widen', 'expected'),
    [
        (18, 1, 11_171_146),
        (18, 1, basic_parameters((2, 2, 2, 2), 1, 10)),
        (34, 1, basic_parameters((3, 4, 6, 3), 1, 10)),
        (18, 2, basic_parameters((2, 2, 2, 2), 2, 10)),
        (50, 1, bottleneck_parameters((3, 4, 6, 3), 1, 10)),
        (50, 2, bottleneck_parameters((3, 4, 6, 3), 2, 10)),
        (101, 1, bottleneck_parameters((3, 4, 23, 3), 1, 10)),
        (152, 1, bottleneck_parameters((3, 8, 36, 3), 1, 10)),
    ],
)
def test_number_of_parameters(depth, widen, expected):
    width = 512 * widen * (1 if depth < 50 else 4)
    with torch.device('meta'):
        model = classifier(depth=depth, widen_factor=widen, width=width)
    assert sum(parameter.numel() for parameter in model.parameters()) == expected
    assert model.backbone.feat_dim == width
    assert model.backbone.conv1.weight.shape == (64, 3, 3, 3)


def norm_relu(x, norm, training):
    mean, var = norm.running_mean.clone(), norm.running_var.clone()
    return F.batch_norm(x, mean, var, norm.weight, norm.bias, training).clamp(min=0)


def block_by_hand(block, x, stride, training):
    """The block's description, operation by operation, on its weights."""
    first = norm_relu(x, block.bn1, training)
    if isinstance(block, PreActBlock):
        out = F.conv2d(first, block.conv1.weight, stride=stride, padding=1)
        out = F.conv2d(norm_relu(out, block.bn2, training), block.conv2.weight, padding=1)
        shortcut = first
    else:
        out = F.conv2d(first, block.conv1.weight)
        out = norm_relu(out, block.bn2, training)
        out = F.conv2d(out, block.conv2.weight, stride=stride, padding=1)
        out = F.conv2d(norm_relu(out, block.bn3, training), block.conv3.weight)
        shortcut = x
    if out.shape != x.shape:
        projection = dict(block.named_parameters())['shortcut.0.weight']
        shortcut = F.conv2d(first, projection, stride=stride)
    return out + shortcut


@pytest.mark.parametrize('training', [True, False])
@pytest.mark.parametrize(
    ('kind', 'inputs', 'channels', 'stride', 'projects'),
    [
        (PreActBlock, 8, 8, 1, False),
        (PreActBlock, 8, 12, 1, True),
        (PreActBlock, 8, 8, 2, True),
        (PreActBottleneck, 8, 2, 1, False),
        (PreActBottleneck, 8, 3, 1, True),
        (PreActBottleneck, 8, 2, 2, True),
    ],
)
def test_wiring_of_blocks(kind, inputs, channels, stride, projects, training):
    torch.manual_seed(0)
    block = randomised(kind(inputs, channels, stride)).train(training)
    x = images(3, inputs, 6, 6)
    before = x.clone()
    expected = block_by_hand(block, x, stride, training)
    torch.testing.assert_close(block(x), expected)
    assert any(name.startswith('shortcut') for name in block.state_dict()) == projects
    assert torch.equal(x, before)


@pytest.mark.parametrize('depth', [18, 50])
def test_whole_network_ends_with_the_last_block(depth):
    torch.manual_seed(0)
    net = randomised(PreActResNet(depth)).eval()
    x = images(2, 3, 8, 8)
    expected = F.conv2d(x, net.conv1.weight, padding=1)
    for i, name in enumerate(net.res_layers):
        for j, block in enumerate(getattr(net, name)):
            expected = block_by_hand(block, expected, 2 if i > 0 and j == 0 else 1, False)
    (out,) = net(x)
    torch.testing.assert_close(out, expected)
    assert out.min() < 0


@pytest.mark.parametrize(
    ('depth', 'widen', 'channels'),
    [(18, 1, 64), (18, 2, 128), (50, 1, 256), (50, 2, 512)],
)
def test_stages(depth, widen, channels):
    with torch.device('meta'):
        net = PreActResNet(depth, widen_factor=widen, in_channels=4, out_indices=[2, 0, 3, 1])
        features = net(torch.empty(2, 4, 32, 16))
    assert [tuple(feature.shape) for feature in features] == [
        (2, channels * 2**i, 32 // 2**i, 16 // 2**i) for i in range(4)
    ]
    assert net.res_layers == ['layer1', 'layer2', 'layer3', 'layer4']


def test_base_channels_scale_stem_and_stages():
    with torch.device('meta'):
        net = PreActResNet(18, base_channels=8, widen_factor=2, out_indices=[0, 1, 2, 3])
        features = net(torch.empty(2, 3, 32, 32))
    assert net.conv1.weight.shape == (8, 3, 3, 3)
    assert [feature.shape[1] for feature in features] == [16, 32, 64, 128]
    assert net.feat_dim == 128


def test_some_stages_only():
    net = PreActResNet(18).eval()
    some = PreActResNet(18, out_indices=(1, 3)).eval()
    some.load_state_dict(net.state_dict())
    outputs = some(images(1, 3, 16, 16))
    assert [len(feature[0]) for feature in outputs] == [128, 512]
    assert torch.equal(outputs[1], net(images(1, 3, 16, 16))[0])


@pytest.mark.parametrize('frozen', [-1, 0, 2, 4])
def test_frozen_stages(frozen):
    net = PreActResNet(18, frozen_stages=frozen)
    assert net.train() is net
    prefixes = ['conv1.', 'layer1.', 'layer2.', 'layer3.', 'layer4.'][: frozen + 1]
    before = copy.deepcopy(net.state_dict())
    (out,) = net(images(2, 3, 16, 16))
    for name, parameter in net.named_parameters():
        assert parameter.requires_grad != name.startswith(tuple(prefixes)), name
    for name, value in net.state_dict().items():
        if 'running' in name:
            assert torch.equal(value, before[name]) == name.startswith(tuple(prefixes)), name
    assert out.requires_grad == (frozen < 4)
    assert not any(module.training for module in net.eval().modules())


def test_norm_eval():
    net = PreActResNet(18, norm_eval=True).train()
    assert net.training
    norms = [module for module in net.modules() if isinstance(module, nn.BatchNorm2d)]
    assert len(norms) == 16
    assert not any(norm.training for norm in norms)
    assert all(norm.weight.requires_grad for norm in norms)


@pytest.mark.parametrize('depth', [18, 50])
@pytest.mark.parametrize('frozen', [-1, 0])
def test_checkpointing_keeps_the_gradients(depth, frozen):
    torch.manual_seed(0)
    plain = PreActResNet(depth, frozen_stages=frozen)
    saving = PreActResNet(depth, frozen_stages=frozen, with_cp=True)
    saving.load_state_dict(plain.state_dict())
    calls = []
    for name in saving.res_layers:
        getattr(saving, name)[0].bn1.register_forward_hook(lambda *_, name=name: calls.append(name))
    outputs = []
    for net in (plain, saving):
        (out,) = net(images(4, 3, 16, 16))
        out.square().mean().backward()
        outputs.append(out)
    assert torch.equal(*outputs)
    for (name, expected), parameter in zip(
        plain.named_parameters(), saving.parameters(), strict=True
    ):
        assert (expected.grad is None) == (frozen == 0 and name == 'conv1.weight')
        if expected.grad is not None:
            assert torch.equal(parameter.grad, expected.grad), name
    # Once forward, then once more in the backward pass, from the last stage to the first.
    assert calls == [*saving.res_layers, *saving.res_layers[::-1]]
    with torch.no_grad():
        saving(images(2, 3, 16, 16))
    assert len(calls) == 12


def test_initialisation_is_pytorchs():
    torch.manual_seed(3)
    net = PreActResNet(18)
    torch.manual_seed(3)
    first = nn.Conv2d(3, 64, 3, padding=1, bias=False)
    assert torch.equal(net.conv1.weight, first.weight)
    before = copy.deepcopy(net.state_dict())
    net.init_weights()
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    constant = PreActResNet(18, init_cfg=dict(type='Constant', layer='Conv2d', val=0.5))
    constant.init_weights()
    assert bool((constant.layer4[1].conv2.weight == 0.5).all())


def test_trains_in_a_classifier():
    torch.manual_seed(0)
    model = classifier(num_classes=4, depth=18)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    batch = {
        'inputs': list(images(8, 3, 16, 16)),
        'data_samples': [DataSample().set_gt_label(i % 4) for i in range(8)],
    }
    before = copy.deepcopy(dict(model.named_parameters()))
    wrapper = OptimWrapper(optimizer)
    losses = [model.train_step(batch, wrapper)['loss'].item() for _ in range(6)]
    assert losses[-1] < losses[0]
    for name, parameter in model.named_parameters():
        assert not torch.equal(parameter, before[name]), name
    predictions = model.val_step(batch)
    assert [sample.pred_score.shape for sample in predictions] == [(4,)] * 8


def test_its_stages_are_the_layers_that_are_mixed():
    model = classifier(depth=18, widen_factor=2, width=1024)
    sites = resolve_layers(model, 'auto', images(2, 3, 32, 32))
    assert [(site.name, site.channels, site.axis) for site in sites] == [
        ('input', 3, 1),
        ('backbone.layer1', 128, 1),
        ('backbone.layer2', 256, 1),
        ('backbone.layer3', 512, 1),
        ('backbone.layer4', 1024, 1),
    ]


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (dict(depth=20), 'depth must be one of 18, 34, 50, 101, 152, got 20'),
        (dict(depth='18'), "depth must be one of 18, 34, 50, 101, 152, got '18'"),
        (dict(widen_factor=0), 'widen_factor must be an integer of at least 1, got 0'),
        (dict(widen_factor=1.5), 'widen_factor must be an integer of at least 1, got 1.5'),
        (dict(widen_factor=True), 'widen_factor must be an integer of at least 1, got True'),
        (dict(base_channels=0), 'base_channels must be an integer of at least 1, got 0'),
        (dict(in_channels=0), 'in_channels must be an integer of at least 1, got 0'),
        (dict(frozen_stages=5), 'frozen_stages must be an integer from -1 to 4, got 5'),
        (dict(frozen_stages=-2), 'frozen_stages must be an integer from -1 to 4, got -2'),
        (dict(out_indices=(4,)), 'out_indices must list stages from 0 to 3, as in (3,), got (4,)'),
        (
            dict(out_indices=(-1,)),
            'out_indices must list stages from 0 to 3, as in (3,), got (-1,)',
        ),
        (dict(out_indices=()), 'out_indices must list stages from 0 to 3, as in (3,), got ()'),
        (dict(out_indices=3), 'out_indices must list stages from 0 to 3, as in (3,), got 3'),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        PreActResNet(**{'depth': 18, **arguments})
