from __future__ import annotations

import pytest
import torch
from mmengine.runner import load_checkpoint
from mmpretrain.registry import MODELS

from mmshufflemix.models.convert_lite0 import convert_lite0, rename_by_order

BACKBONE = dict(type='TIMMBackbone', model_name='tf_efficientnet_lite0')


def test_rename_by_order() -> None:
    expected = {'a': torch.empty(2, 3), 'b': torch.empty(())}
    weights = {'x': torch.ones(2, 3), 'y': torch.tensor(7), 'classifier': torch.ones(5)}
    renamed = rename_by_order(weights, expected)
    assert list(renamed) == ['a', 'b']
    assert renamed['a'] is weights['x']
    assert renamed['b'] is weights['y']


@pytest.mark.parametrize(
    ('weights', 'message'),
    [
        ({'x': torch.ones(3, 2)}, r'entry 0 of the weights is x of shape \(3, 2\), expected a of'),
        ({'x': torch.ones(2, 3)}, r'entry 1 of the weights is nothing of shape \(0,\), expected b'),
        ({}, 'entry 0 of the weights is nothing'),
    ],
)
def test_other_weights(weights: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rename_by_order(weights, {'a': torch.empty(2, 3), 'b': torch.empty(())})


def test_the_written_file_fills_the_backbone(tmp_path) -> None:
    trained = MODELS.build(BACKBONE)
    names = list(trained.state_dict())
    source = tmp_path / 'source.pth'
    values = {f'their name {i}': trained.state_dict()[name] for i, name in enumerate(names)}
    torch.save({**values, 'classifier.weight': torch.zeros(1000, 1280)}, source)
    convert_lite0(tmp_path / 'weights' / 'lite0.pth', source)
    init_cfg = dict(
        type='Pretrained', checkpoint=str(tmp_path / 'weights' / 'lite0.pth'), prefix='backbone'
    )
    loaded = MODELS.build({**BACKBONE, 'init_cfg': init_cfg})
    loaded.init_weights()
    for name in names:
        assert torch.equal(loaded.state_dict()[name], trained.state_dict()[name]), name
    model = torch.nn.ModuleDict({'backbone': MODELS.build(BACKBONE)})
    load_checkpoint(model, str(tmp_path / 'weights' / 'lite0.pth'), strict=True)


def test_a_file_of_something_else_leaves_nothing(tmp_path) -> None:
    torch.save({'w': torch.zeros(1)}, tmp_path / 'source.pth')
    with pytest.raises(ValueError, match='these are not the weights of tf_efficientnet_lite0'):
        convert_lite0(tmp_path / 'lite0.pth', tmp_path / 'source.pth')
    assert not (tmp_path / 'lite0.pth').exists()


@pytest.mark.parametrize('content', [{'a': 1}, {'state_dict': {}}, [torch.zeros(1)], {}])
def test_what_is_no_dict_of_tensors(content, tmp_path) -> None:
    torch.save(content, tmp_path / 'source.pth')
    with pytest.raises(ValueError, match=r'source\.pth is not a dict of tensors; give the weights'):
        convert_lite0(tmp_path / 'lite0.pth', tmp_path / 'source.pth')


def test_a_text_file_and_a_wrapped_one(tmp_path) -> None:
    source = tmp_path / 'source.pth'
    source.write_text('no weights')
    with pytest.raises(ValueError, match=r"source\.pth' is damaged or not a checkpoint"):
        convert_lite0(tmp_path / 'lite0.pth', source)
    weights = MODELS.build(BACKBONE).state_dict()
    torch.save({'state_dict': weights}, source)
    written = convert_lite0(tmp_path / 'lite0.pth', source)['state_dict']
    assert list(written) == [f'backbone.{name}' for name in weights]
