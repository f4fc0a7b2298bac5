"""The layer that is explained, on the backbones of MMPretrain and timm."""

from __future__ import annotations

import pytest
import torch
from mmengine.model import BaseModel

from mmshufflemix.explain.heat_maps import class_maps
from mmshufflemix.explain.layer import find_site
from mmshufflemix.explain.network import still
from tests.test_layers.backbone_cases import CASES
from tests.test_layers.test_backbones import build, classifier

# Where it is not what the backbone returns: that is pooled, or has one position in these small
# inputs, or the class token alone is read.
INNER = {
    'AlexNet': 'features.12',
    'VGG': 'features.11',
    'EfficientFormer': 'network.3',
    **dict.fromkeys(('ConvNeXt', 'HorNet', 'EdgeNeXt', 'TinyViT'), 'stages.3'),
    'MixMIMTransformer': 'layers.3',
    'LeViT': 'stages.1',
    **dict.fromkeys(
        ('VisionTransformer', 'DistilledVisionTransformer', 'DeiT3', 'MoCoV3ViT', 'ViTEVA02'),
        'layers.6',
    ),
    'BEiTViT': 'layers.7',
    'T2T_ViT': 'encoder.6',
    'XCiT': 'xca_layers.7',
    'MlpMixer': 'layers.7',
}
REFUSED = {
    **dict.fromkeys(
        ('InceptionV3', 'HRNet', 'RevVisionTransformer', 'TNT', 'Conformer'), 'no single last'
    ),
    # It drops the batch axis of a single image.
    'LeNet5': 'does not give one score',
}
FAST = ('PreActResNet', 'VisionTransformer', 'SwinTransformer', 'TinyViT', 'XCiT')


def inputs_of(name: str) -> torch.Tensor:
    case = CASES[name]
    return torch.randn(1, case.in_channels, case.size, case.size)


def check(model: BaseModel, inputs: torch.Tensor, expected: str) -> None:
    with still(model):
        site = find_site(model, inputs)
        maps, grid = class_maps(model, inputs, site, [1, 3], 'eigencam')
        gradients, _ = class_maps(model, inputs, site, [1, 3], 'gradcam++')
    assert site.name == expected
    assert grid[0] * grid[1] > 1
    assert maps.shape == gradients.shape == (2, *inputs.shape[2:])
    assert maps.max() > maps.min()
    assert gradients.min() >= 0


@pytest.mark.parametrize('name', FAST)
def test_the_last_feature_map_is_found(name: str) -> None:
    inner = INNER.get(name)
    check(classifier(name), inputs_of(name), f'backbone.{inner}' if inner else 'backbone')


@pytest.mark.slow
@pytest.mark.parametrize('name', [name for name in CASES if name not in (*REFUSED, *FAST)])
def test_the_last_feature_map_of_every_backbone_is_found(name: str) -> None:
    inner = INNER.get(name)
    check(classifier(name), inputs_of(name), f'backbone.{inner}' if inner else 'backbone')


@pytest.mark.parametrize('name', REFUSED)
def test_backbones_without_one_are_refused(name: str) -> None:
    model = classifier(name)
    with still(model), pytest.raises((TypeError, ValueError), match=REFUSED[name]):
        find_site(model, inputs_of(name))


def test_a_model_of_timm() -> None:
    pytest.importorskip('timm')
    model = build(
        type='ImageClassifier',
        backbone=dict(type='TIMMBackbone', model_name='tf_efficientnet_lite0'),
        neck=dict(type='GlobalMaxPooling'),
        head=dict(type='LinearClsHead', num_classes=5, in_channels=1280),
    )
    check(model, torch.randn(1, 3, 64, 96), 'backbone')


@pytest.mark.parametrize(
    ('layer', 'name', 'grid'),
    [('layer1', 'backbone.layer1', (16, 16)), (3, 'backbone.layer3', (4, 4)), (-2, None, (4, 4))],
)
def test_layers_are_named_as_for_the_augments(
    layer: str | int, name: str | None, grid: tuple[int, int]
) -> None:
    model, inputs = classifier('ResNet'), inputs_of('ResNet')
    with still(model):
        site = find_site(model, inputs, layer)
        assert site.name == (name or 'backbone.layer3')
        assert class_maps(model, inputs, site, [0], 'layercam')[1] == grid


@pytest.mark.parametrize(
    ('layer', 'reason'),
    [
        ('layer9', "unknown layer 'layer9'; choose for example from: input, "),
        ('neck', r"no heat map can be made of layer 'neck': features of shape \(1, 64\)"),
        ('head', "layer 'head' is no feature map"),
        (0, "layer '0' is no feature map"),
    ],
)
def test_other_layers_are_refused(layer: str | int, reason: str) -> None:
    model = classifier('ResNet')
    with still(model), pytest.raises(ValueError, match=reason):
        find_site(model, inputs_of('ResNet'), layer)
