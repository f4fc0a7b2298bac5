"""Layer addressing on every backbone of MMPretrain."""

from __future__ import annotations

import inspect

import pytest
import torch
from mmengine.optim import OptimWrapper
from mmpretrain.models.backbones.base_backbone import BaseBackbone
from mmpretrain.registry import MODELS
from mmpretrain.structures import DataSample

import mmshufflemix
from mmshufflemix.functional import num_mixed_channels
from tests.test_layers.backbone_cases import CASES, NUM_CLASSES, Case

BATCH_SIZE = 4
SLOW = ('Vig', 'PyramidVig')
RATIO = 0.5
# With this seed no image is its own partner.
SEED = 4

_MASKED = 'pre-training: its forward pass is given a mask and returns more than features'
LEFT_OUT = {
    'BEiTPretrainViT': _MASKED,
    'CAEPretrainViT': _MASKED,
    'MAEHiViT': _MASKED,
    'MAEViT': _MASKED,
    'MFFViT': _MASKED,
    'MILANViT': _MASKED,
    'MaskFeatViT': _MASKED,
    'MixMIMPretrainTransformer': _MASKED,
    'SimMIMSwinTransformer': _MASKED,
    'iTPNHiViT': _MASKED,
    'SparseConvNeXt': 'pre-training: its layers need the mask that the SparK algorithm sets',
    'SparseResNet': 'pre-training: its layers need the mask that the SparK algorithm sets',
    'TIMMBackbone': 'has tests of its own, which need timm',
}


def build(**config):
    torch.manual_seed(0)
    model = MODELS.build(
        dict(
            data_preprocessor=dict(mean=[127.5], std=[127.5], num_classes=NUM_CLASSES),
            train_cfg=dict(augments=dict(type='ShuffleMix')),
            **config,
        )
    )
    model.train()
    return model


def classifier(name: str):
    case = CASES[name]
    head = dict(case.head)
    if head['type'] != 'ClsHead':
        head.update(num_classes=NUM_CLASSES, in_channels=case.out)
    backbone = dict(type=name, **case.args)
    return build(type='ImageClassifier', backbone=backbone, neck=case.neck, head=head)


def auto_sites(model, data: dict):
    inputs = model.data_preprocessor(data)['inputs']
    return mmshufflemix.attach(model).sites('auto', None, inputs, 'test')


def batch(size: int, in_channels: int = 3) -> dict:
    images = torch.randint(256, (BATCH_SIZE, in_channels, size, size), dtype=torch.uint8)
    samples = [DataSample().set_gt_label(k % NUM_CLASSES) for k in range(BATCH_SIZE)]
    return dict(inputs=list(images), data_samples=samples)


def step(model, data: dict, layer: int | str, channel_axis: int | None = None) -> None:
    """Train one step with a layer mixed, and check the features at this layer."""
    augment = mmshufflemix.ShuffleMix(
        mode='hard', ratio=RATIO, layers=[layer], channel_axis=channel_axis
    )
    model.data_preprocessor.batch_augments.augments = [augment]
    site = mmshufflemix.attach(model).sites(
        augment.layers, channel_axis, model.data_preprocessor(data)['inputs'], 'ShuffleMix'
    )[0]
    module = model.get_submodule(site.name)
    seen = []

    def note(module, args, output=None):
        value = args[0] if output is None else output
        value = value if isinstance(value, torch.Tensor) else value[0]
        seen.append(value.detach().clone())

    register = module.register_forward_pre_hook if site.before else module.register_forward_hook
    handles = [register(note, prepend=True), register(note)]
    first = next(p for p in model.parameters() if p.requires_grad)
    before = first.detach().clone()
    optim_wrapper = OptimWrapper(torch.optim.SGD(model.parameters(), lr=0.1))
    torch.manual_seed(SEED)
    losses = model.train_step(data, optim_wrapper)
    for handle in handles:
        handle.remove()

    assert torch.isfinite(losses['loss'])
    assert not torch.equal(first, before)
    plain, mixed = (t.movedim(site.axis, 1).reshape(*t.shape[:1], site.channels, -1) for t in seen)
    changed = (plain != mixed).any(dim=2).any(dim=0)
    # Features of two images may be equal at a channel, so there may be fewer.
    assert 0 < changed.sum() <= num_mixed_channels(RATIO, site.channels)


def expected_sites(case: Case) -> list[tuple[str, int, int]]:
    axes = (case.axis,) * len(case.auto) if isinstance(case.axis, int) else case.axis
    stages = zip(case.auto.items(), axes, strict=True)
    return [
        ('input', case.in_channels, 1),
        *((f'backbone.{name}', channels, axis) for (name, channels), axis in stages),
    ]


def names(auto: bool) -> list:
    return [
        pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name
        for name, case in CASES.items()
        if bool(case.auto) == auto
    ]


@pytest.mark.parametrize('name', names(auto=True))
def test_auto_finds_the_stages_and_each_can_be_mixed(name):
    case = CASES[name]
    model = classifier(name)
    data = batch(case.size, case.in_channels)

    sites = auto_sites(model, data)

    assert [(s.name, s.channels, s.axis) for s in sites] == expected_sites(case)
    for number in range(1, len(sites)):
        step(model, data, number)


@pytest.mark.parametrize('name', names(auto=False))
def test_auto_refuses_and_lists_names_that_can_be_mixed(name):
    case = CASES[name]
    model = classifier(name)
    data = batch(case.size)

    with pytest.raises(ValueError, match='for example from: input, ') as error:
        auto_sites(model, data)

    listed = str(error.value).split('for example from: ')[1].split(', ')
    assert {'input', 'head'} < set(listed)
    for layer in case.named:
        step(model, data, layer, case.channel_axis)


def test_every_registered_backbone_is_tested_or_left_out_for_a_reason():
    registered = {
        name
        for name, module in MODELS.module_dict.items()
        if inspect.isclass(module)
        and module.__module__.startswith(('mmpretrain.', 'mmshufflemix.models.'))
        and (issubclass(module, BaseBackbone) or '.backbones.' in module.__module__)
    }

    assert registered == CASES.keys() | LEFT_OUT.keys()
    assert not CASES.keys() & LEFT_OUT.keys()


TIMM = {
    'test_resnet': (dict(), ['layer1', 'layer2', 'layer3', 'layer4'], 1),
    'test_convnext': (dict(), ['stages.0', 'stages.1', 'stages.2', 'stages.3'], 1),
    'swin_tiny_patch4_window7_224': (
        dict(img_size=64, embed_dim=24, depths=(1, 1, 1, 1), num_heads=(1, 2, 2, 2), window_size=2),
        ['layers.0', 'layers.1', 'layers.2', 'layers.3'],
        3,
    ),
    'vit_tiny_patch16_224': (
        dict(img_size=64, embed_dim=24, num_heads=2, depth=8),
        ['blocks.1', 'blocks.3', 'blocks.5', 'blocks.7'],
        2,
    ),
}


@pytest.mark.parametrize('wrapper', ['TIMMBackbone', 'TimmClassifier'])
@pytest.mark.parametrize('name', TIMM)
def test_timm_models_are_addressed_by_their_own_names(name, wrapper):
    pytest.importorskip('timm', reason='timm is an optional dependency of MMPretrain')
    args, stages, axis = TIMM[name]
    if wrapper == 'TIMMBackbone':
        prefix = 'backbone.timm_model'
        model = build(type='ImageClassifier', backbone=dict(type=wrapper, model_name=name, **args))
    else:
        prefix = 'model'
        loss = dict(type='CrossEntropyLoss')
        model = build(type=wrapper, model_name=name, num_classes=NUM_CLASSES, loss=loss, **args)
    data = batch(64)

    sites = auto_sites(model, data)

    assert [s.name for s in sites[1:]] == [f'{prefix}.{stage}' for stage in stages]
    assert {s.axis for s in sites[1:]} == {axis}
    if wrapper == 'TimmClassifier':
        for stage in stages:
            step(model, data, stage)
