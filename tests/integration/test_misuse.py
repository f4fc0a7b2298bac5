"""Labels that are mixed while features are not, or the reverse, are an error."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from mmengine.optim import OptimWrapper
from mmpretrain.models import ImageClassifier
from mmpretrain.registry import MODELS
from torch import nn

from tests.integration.recording import recorded_mixing
from tests.integration.tiny import batch, build_model, gradients, model_config, seed_all, sgd


class OwnStep(ImageClassifier):
    """A classifier whose train_step calls the loss method and not the model."""

    def train_step(self, data: dict, optim_wrapper: OptimWrapper) -> dict[str, torch.Tensor]:
        losses = self.loss(**self.data_preprocessor(data, True))
        optim_wrapper.update_params(losses['loss'])
        return losses


def test_a_step_that_goes_around_the_model():
    cfg = model_config(dict(type='ShuffleMix', layers=[2]))
    cfg.pop('type')
    model = OwnStep(**cfg).train()
    optim = sgd(model)
    model.train_step(batch(), optim)
    with pytest.raises(RuntimeError, match="'backbone.layer2'.*OwnStep was never called"):
        model.train_step(batch(), optim)


def test_such_a_step_is_noticed_by_validation_too():
    cfg = model_config(dict(type='ShuffleMix', layers=[2]))
    cfg.pop('type')
    model = OwnStep(**cfg).train()
    model.train_step(batch(), sgd(model))
    with pytest.raises(RuntimeError, match='was never called'):
        model.eval().val_step(batch())


class Several(nn.Module):
    """Runs a module once when it is probed, and several times in training."""

    def __init__(self, inner: nn.Module, times: int) -> None:
        super().__init__()
        self.inner = inner
        self.times = times

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.training:
            return self.inner(x)
        out = self.inner.forward(x)
        for _ in range(self.times):
            out = self.inner(x)
        return out


@pytest.mark.parametrize('times', [0, 2, 3])
def test_a_layer_that_does_not_run_once(times: int):
    model = build_model(dict(type='ShuffleMix', layers=['layer3.inner']))
    model.backbone.layer3 = Several(model.backbone.layer3, times)
    optim = sgd(model)
    with pytest.raises(RuntimeError, match=rf"'backbone.layer3.inner'.*ran {times} times"):
        model.train_step(batch(), optim)
    # The error is about that batch alone.
    model.eval().val_step(batch())


def test_a_layer_that_is_replaced_in_mid_run():
    model = build_model(dict(type='ShuffleMix', layers=['layer3']))
    optim = sgd(model)
    model.train_step(batch(), optim)
    model.backbone.layer3 = nn.Conv2d(16, 32, 2, stride=2)
    with pytest.raises(RuntimeError, match="'backbone.layer3'.*ran 0 times"):
        model.train_step(batch(), optim)


@pytest.mark.parametrize('keep', [4, 5])
def test_a_layer_that_drops_images(keep: int):
    model = build_model(dict(type='ShuffleMix', layers=['layer2']))

    def drop(module: nn.Module, args: tuple) -> Any:
        return args[0][:keep] if module.training else None

    model.backbone.layer2.register_forward_pre_hook(drop)
    with pytest.raises(RuntimeError, match="'backbone.layer2'.*8 images"):
        model.train_step(batch(), sgd(model))


def test_a_second_pass_over_the_same_batch_is_mixed_alike():
    """As optimizers with a closure and consistency losses do it: the labels are still mixed."""
    model = build_model(dict(type='ShuffleMixNFM', layers=['layer2']), norm_eval=True)
    data = model.data_preprocessor(batch(), True)
    with recorded_mixing() as plans:
        first, second = (model(**data, mode='loss')['loss'] for _ in range(2))
        assert plans[0] is plans[1]
        assert torch.equal(first, second)
        other = model.data_preprocessor(batch(seed=1), False)
        model(**other, mode='loss')
        model.eval()(**data, mode='loss')
    assert len(plans) == 2


def test_two_models_do_not_meddle():
    """A model inside the step of another, as a teacher is, mixes nothing."""
    student = build_model(dict(type='ShuffleMix', layers=['layer2']))
    teacher = build_model(dict(type='ShuffleMix', layers=['layer2']))
    for model in (student, teacher):
        model.train_step(batch(), sgd(model, lr=0.0))
    plain = build_model()
    plain.load_state_dict(teacher.state_dict())
    data = student.data_preprocessor(batch(), True)
    with recorded_mixing() as plans:
        assert torch.equal(teacher(data['inputs']), plain(data['inputs']))
        with pytest.raises(RuntimeError, match='hidden layer of another model'):
            teacher(**data, mode='loss')
        assert not plans
        student(**data, mode='loss')['loss'].backward()
    assert len(plans) == 1
    assert gradients(student)


def test_one_augment_may_serve_two_models():
    augment = build_model(dict(type='ShuffleMix')).data_preprocessor.batch_augments.augments[0]
    first, second = (
        MODELS.build(model_config(augment, **shortcut)).train()
        for shortcut in ({}, dict(avg_down=True))
    )
    seed_all(0)
    with recorded_mixing() as plans:
        for _ in range(4):
            for model in (first, second):
                model.train_step(batch(), sgd(model))
    assert len(plans) == 8
