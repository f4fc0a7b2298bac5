from __future__ import annotations

import pytest
import torch
from mmpretrain.registry import MODELS
from torch import nn

from mmshufflemix.layers import INPUT, LayerSite, check_layers, resolve_layers

IMAGES = torch.rand(4, 3, 32, 32)


class Give(nn.Module):
    """Gives features of a fixed shape, whatever it gets."""

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.shape = shape

    def forward(self, x):
        return torch.zeros(len(x), *self.shape)


class Chain(nn.Module):
    """A backbone of modules that run one after the other."""

    def __init__(self, *modules: nn.Module) -> None:
        super().__init__()
        self.stages = nn.ModuleList(modules)

    def forward(self, x):
        for module in self.stages:
            x = module(x)
        return (x,)


class Classifier(nn.Module):
    """The parts of a classifier that layers are looked for in."""

    def __init__(self, backbone: nn.Module, **parts: nn.Module) -> None:
        super().__init__()
        self.backbone = backbone
        for name, part in parts.items():
            self.add_module(name, part)

    def extract_feat(self, images):
        return self.backbone(images)


def chain(*shapes: tuple[int, ...]) -> Classifier:
    return Classifier(Chain(*(Give(*shape) for shape in shapes)))


@pytest.fixture(scope='module')
def resnet():
    return MODELS.build(
        dict(
            type='ImageClassifier',
            backbone=dict(type='ResNet', depth=18, base_channels=8, stem_channels=8),
            neck=dict(type='GlobalAveragePooling'),
            head=dict(type='LinearClsHead', num_classes=10, in_channels=64),
        )
    )


LAYER = {k: LayerSite(f'backbone.layer{k}', 4 * 2**k, 1) for k in range(1, 5)}
INPUT_SITE = LayerSite(INPUT, 3, 1)


@pytest.mark.parametrize(
    ('layers', 'checked'),
    [
        ('auto', 'auto'),
        (0, (0,)),
        (-1, (-1,)),
        ('neck', ('neck',)),
        ('input', (0,)),
        ([0, 'input', 1, 1, 'layer1'], (0, 1, 'layer1')),
        (range(3), (0, 1, 2)),
    ],
)
def test_check_gives_a_tuple_without_repetitions(layers, checked):
    assert check_layers(layers) == checked


def test_check_refuses_an_empty_list():
    with pytest.raises(
        ValueError, match="at least one layer, got an empty list; try layers='auto'"
    ):
        check_layers([])


def test_auto_stands_alone():
    with pytest.raises(ValueError, match="'auto' stands alone"):
        check_layers(['auto', 1])


@pytest.mark.parametrize('layers', [True, 1.5, None, [0, 2.0], [False], [None], {'layer1': 1}])
def test_check_refuses_anything_but_numbers_and_names(layers):
    with pytest.raises(TypeError, match="layers must be 'auto' or a list of numbers and module"):
        check_layers(layers)


@pytest.mark.parametrize(
    ('layers', 'sites'),
    [
        ('auto', [INPUT_SITE, *LAYER.values()]),
        ([0], [INPUT_SITE]),
        ([3, 1], [LAYER[3], LAYER[1]]),
        ([-1, -4], [LAYER[4], LAYER[1]]),
        (['layer2'], [LAYER[2]]),
        (['backbone.layer2'], [LAYER[2]]),
        (['layer2', 'input', -2], [LAYER[2], INPUT_SITE, LAYER[3]]),
        ([1, 'layer1', 'backbone.layer1', -4], [LAYER[1]]),
        (['layer1.0.conv1'], [LayerSite('backbone.layer1.0.conv1', 8, 1)]),
        (['backbone'], [LayerSite('backbone', 64, 1)]),
        (['neck'], [LayerSite('neck', 64, 1)]),
        (['head'], [LayerSite('head', 64, 1)]),
    ],
)
def test_layers_of_a_classifier(resnet, layers, sites):
    assert resolve_layers(resnet, check_layers(layers), IMAGES) == sites


def test_only_the_head_is_mixed_before_it_runs(resnet):
    sites = resolve_layers(resnet, ('neck', 'head', 0), IMAGES)
    assert [site.before for site in sites] == [False, True, False]
    assert [site.is_input for site in sites] == [False, False, True]


@pytest.mark.parametrize('name', ['layer5', 'layer1.9', 'neck.nothing', 'conv', ''])
def test_unknown_names_list_the_choices(resnet, name):
    with pytest.raises(ValueError, match=r'input, conv1, .*layer1, .*layer4, .*neck, head'):
        resolve_layers(resnet, (name,), IMAGES)


def test_a_long_list_of_choices_is_cut():
    backbone = Chain(*(nn.Identity() for _ in range(50)))
    with pytest.raises(ValueError, match=r'input, stages, .*stages\.28, \.\.\.$'):
        resolve_layers(Classifier(backbone), ('nothing',), IMAGES)


def test_layers_inside_the_head_are_refused(resnet):
    with pytest.raises(ValueError, match="'head.fc' lies inside the head.*use 'head'"):
        resolve_layers(resnet, ('head.fc',), IMAGES)


@pytest.mark.parametrize('number', [5, -5])
def test_numbers_out_of_range_name_the_layers(resnet, number):
    message = rf'layer {number} does not exist.*0 \(input\) to 4 \(backbone.layer1, .*layer4\)'
    with pytest.raises(ValueError, match=message):
        resolve_layers(resnet, (number,), IMAGES)


def test_a_layer_that_cannot_be_mixed_says_why_and_lists_choices(resnet):
    message = "'backbone.layer1.0.relu' cannot be mixed, because it runs 2 times.*for example from:"
    with pytest.raises(ValueError, match=message):
        resolve_layers(resnet, ('layer1.0.relu',), IMAGES)


class Pair(nn.Module):
    def forward(self, x):
        return x, x


@pytest.mark.parametrize('layers', ['auto', (1,), (-1,)])
def test_numbers_need_stages(layers):
    two_streams = Chain(nn.Identity(), Pair())
    for backbone in (nn.Conv2d(3, 4, 1), two_streams):
        message = f"{type(backbone).__name__} has no stages that layers='auto' or numbers can mean"
        with pytest.raises(ValueError, match=f'{message}; name the layers, .* input'):
            resolve_layers(Classifier(backbone), layers, IMAGES)


def test_input_alone_needs_no_backbone():
    assert resolve_layers(nn.Module(), (0,), IMAGES) == [INPUT_SITE]


def test_names_prefer_the_backbone_but_neck_and_head_the_model():
    def part(channels: int) -> nn.Module:
        return nn.Conv2d(3, channels, 1)

    backbone = nn.Sequential()
    for name in ('stem', 'neck', 'head'):
        backbone.add_module(name, nn.Identity())
    model = Classifier(backbone, stem=part(1), neck=part(2), head=part(3))
    model.extract_feat = lambda images: (model.neck(backbone(images)),)
    sites = resolve_layers(model, ('stem', 'neck', 'head'), IMAGES)
    assert [(site.name, site.channels) for site in sites] == [
        ('backbone.stem', 3),
        ('neck', 2),
        ('head', 2),
    ]


@pytest.mark.parametrize(
    ('shape', 'size', 'axis'),
    [
        ((8,), (32, 32), 1),
        ((17, 8), (32, 32), 2),
        # Maps of square images; if all three axes are equal, channels come first.
        ((8, 4, 4), (32, 32), 1),
        ((4, 4, 8), (32, 32), 3),
        ((4, 4, 4), (32, 32), 1),
        ((8, 1, 1), (32, 32), 1),
        ((1, 1, 8), (32, 32), 3),
        # Maps of other images, among them as many channels as rows.
        ((8, 6, 4), (48, 32), 1),
        ((6, 4, 8), (48, 32), 3),
        ((4, 4, 8), (32, 64), 1),
        ((8, 8, 6), (64, 48), 1),
        ((8, 6, 8), (64, 48), 3),
        ((64, 7, 5), (210, 150), 1),
        ((7, 5, 64), (210, 150), 3),
        ((64, 1, 1), (48, 32), 1),
    ],
)
def test_axis_of_the_channels_is_deduced(shape, size, axis):
    images = torch.rand(2, 3, *size)
    site = resolve_layers(chain(shape, shape), (2,), images)[0]
    assert (site.axis, site.channels) == (axis, (2, *shape)[axis])


def test_axis_of_other_features_must_be_set():
    model = chain((16, 4, 4, 8), (16, 8))
    with pytest.raises(ValueError, match=r'\(2, 16, 4, 4, 8\); set channel_axis, or choose others'):
        resolve_layers(model, 'auto', IMAGES)
    sites = resolve_layers(model, 'auto', IMAGES, channel_axis=-1)
    assert [(site.axis, site.channels) for site in sites] == [(1, 3), (4, 8), (2, 8)]


@pytest.mark.parametrize(('channel_axis', 'axis', 'channels'), [(1, 1, 8), (3, 3, 5), (-2, 2, 6)])
def test_channel_axis_is_obeyed_where_there_is_a_choice(channel_axis, axis, channels):
    model = chain((8, 6, 5), (8,))
    sites = resolve_layers(model, (1, 2), IMAGES, channel_axis)
    assert sites == [
        LayerSite('backbone.stages.0', channels, axis),
        LayerSite('backbone.stages.1', 8, 1),
    ]


@pytest.mark.parametrize('channel_axis', [0, 3, -3, -4])
def test_channel_axis_must_be_one_of_the_features(channel_axis):
    message = (
        rf"channel_axis={channel_axis} is not a channel axis of layer '.*', whose .*\(2, 17, 8\)"
    )
    with pytest.raises(ValueError, match=message):
        resolve_layers(chain((17, 8), (17, 8)), (1,), IMAGES, channel_axis)


def names(model: nn.Module) -> list[int]:
    sites = resolve_layers(model, 'auto', IMAGES)[1:]
    return [int(site.name.rsplit('.', 1)[1]) for site in sites]


def test_four_units_or_fewer_are_the_stages_whatever_their_resolution():
    # As of a dilated ResNet, or of any network on very small images.
    assert names(chain((8, 4, 4), (8, 2, 2), (8, 2, 2), (8, 2, 2))) == [0, 1, 2, 3]
    assert names(chain((8, 4, 4), (8, 2, 2))) == [0, 1]


def test_of_more_units_the_last_of_each_resolution_is_taken():
    assert names(chain((8, 8, 8), (8, 8, 8), (8, 4, 4), (8, 2, 2), (8, 2, 2), (8, 1, 1))) == [
        1,
        2,
        4,
        5,
    ]
    assert names(chain(*((8, 2**k, 2**k) for k in (5, 4, 3, 2, 1, 0)))) == [2, 3, 4, 5]
    assert names(chain(*((8, s, s) for s in (4, 4, 4, 2, 2)))) == [2, 4]


@pytest.mark.parametrize(
    ('depth', 'expected'), [(12, [2, 5, 8, 11]), (24, [5, 11, 17, 23]), (5, [1, 2, 3, 4])]
)
def test_of_one_resolution_quarter_depths_are_taken(depth, expected):
    assert names(chain(*[(10, 8)] * depth)) == expected
