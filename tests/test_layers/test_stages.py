from __future__ import annotations

import pytest
from torch import nn

from mmshufflemix.stages import stage_units


def holder(**attributes) -> nn.Module:
    module = nn.Module()
    for name, value in attributes.items():
        setattr(module, name, value)
    return module


def test_names_of_modules_are_followed():
    a, b = nn.Identity(), nn.Identity()
    assert stage_units(holder(layer1=a, layer2=b, res_layers=['layer1', 'layer2'])) == [a, b]


@pytest.mark.parametrize('container', [nn.ModuleList, lambda units: nn.Sequential(*units)])
@pytest.mark.parametrize(
    'attribute', ['stages', 'layers', 'blocks', 'encoder', 'network', 'xca_layers', 'features']
)
def test_lists_are_found_under_their_usual_names(attribute, container):
    units = [nn.Identity(), nn.Identity()]
    assert stage_units(holder(**{attribute: container(units)})) == units


def test_stages_come_before_layers():
    stages = nn.ModuleList([nn.Identity(), nn.Identity()])
    layers = nn.ModuleList([nn.Identity(), nn.Identity()])
    assert stage_units(holder(layers=layers, stages=stages)) == list(stages)


@pytest.mark.parametrize(
    'names', [['layer1', 'layer2'], ['stage_1', 'stage_2'], ['blocks1', 'block2']]
)
def test_numbered_children_are_found(names):
    units = [nn.Identity(), nn.Identity()]
    others = {'conv1': nn.Identity(), 'layers_norm': nn.Identity()}
    assert stage_units(holder(**others, **dict(zip(names, units, strict=True)))) == units


def test_of_a_list_of_blocks_the_last_block_is_the_unit():
    first = nn.ModuleList([nn.Identity(), nn.Identity()])
    second = nn.ModuleList([nn.Identity()])
    expected = [first[1], second[0]]
    assert stage_units(holder(stages=nn.ModuleList([first, second]))) == expected
    assert stage_units(holder(blocks1=first, blocks2=second)) == expected


def test_one_unit_or_numbers_are_no_stages():
    # EfficientFormer and PoolFormer keep depths in `layers`.
    assert stage_units(holder(layers=[1, 1, 6, 2])) == []
    blocks = nn.ModuleList([nn.Identity(), nn.Identity()])
    assert stage_units(holder(layers=nn.Sequential(nn.Identity()), blocks=blocks)) == list(blocks)
    assert stage_units(nn.Linear(2, 2)) == []


def test_names_that_are_no_modules_are_skipped():
    a, b = nn.Identity(), nn.Identity()
    module = holder(layer1=a, layer2=b, stages=['layer1', 'depth', 'layer2', 'gone'], depth=3)
    assert stage_units(module) == [a, b]
