"""The model is afterwards as it was."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import mmshufflemix
from mmshufflemix.explain import METHODS, AnyHeadInferencer, heat_maps
from tests.test_explain.colour_model import colour_model, picture_of


@pytest.mark.parametrize('method', METHODS)
def test_nothing_of_the_model_changes(method: str) -> None:
    model = colour_model()
    model.train()
    model.neck.eval()
    model.backbone.conv.bias.requires_grad_(False)
    model.backbone.conv.weight.grad = grad = torch.ones_like(model.backbone.conv.weight)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    flags = [module.training for module in model.modules()]
    hooks = [len(module._forward_hooks) for module in model.modules()]
    picture = picture_of(64, 48, red=(16, 8, 32, 24))
    with torch.no_grad():
        found = heat_maps(model, picture, ['red'], method)
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    assert found.maps.shape == (1, 64, 48)
    assert found.maps.min() >= 0
    assert found.maps.max() <= 1
    assert [module.training for module in model.modules()] == flags
    assert [len(module._forward_hooks) for module in model.modules()] == hooks
    wanted = [name for name, p in model.named_parameters() if not p.requires_grad]
    assert wanted == ['backbone.conv.bias']
    assert model.backbone.conv.weight.grad is grad
    assert torch.equal(grad, torch.ones_like(grad))
    others = [p.grad for name, p in model.named_parameters() if name != 'backbone.conv.weight']
    assert not any(g is not None for g in others)
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])


def test_the_flags_are_restored_after_an_error() -> None:
    model = colour_model()
    model.train()
    with pytest.raises(ValueError, match="the model has no class 'pink'; its classes are red, "):
        heat_maps(model, picture_of(64, 48), ['pink'])
    assert all(module.training for module in model.modules())
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_bound_mixing_does_not_interfere() -> None:
    picture = picture_of(64, 48, red=(16, 8, 32, 24), green=(40, 8, 56, 24))
    plain = heat_maps(colour_model(), picture, ['red', 'green'])
    augments = dict(augments=[mmshufflemix.ShuffleMix(layers=['conv'])], probs=None)
    model = colour_model(batch_augments=augments)
    samples = AnyHeadInferencer(model).pipeline(
        dict(img=picture, img_shape=(64, 48), ori_shape=(64, 48))
    )
    sample = samples['data_samples'].set_gt_score(torch.tensor([1.0, 1.0, 0.0]))
    batch = dict(inputs=[samples['inputs']] * 2, data_samples=[sample] * 2)
    model.train()
    losses = []
    for _ in range(2):
        data = model.data_preprocessor(batch, True)
        losses.append(model(**data, mode='loss')['loss'])
        mixed = heat_maps(model, picture, ['red', 'green'])
        np.testing.assert_array_equal(mixed.maps, plain.maps)
    assert all(torch.isfinite(loss) for loss in losses)
    assert all(module.training for module in model.modules())
