"""Activation checkpointing recomputes layers in the backward pass: gradients must not change."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from mmpretrain.models import ImageClassifier
from torch.utils.checkpoint import checkpoint

from tests.integration.recording import recorded_mixing
from tests.integration.settings import AUGMENTS
from tests.integration.tiny import batch, build_model, gradients, seed_all, sgd

LAYERS = [[0], [1], [2], [3], [4], ['neck']]


def checkpoint_backbone(model: ImageClassifier, use_reentrant: bool) -> None:
    plain = model.backbone.forward
    model.backbone.forward = partial(checkpoint, plain, use_reentrant=use_reentrant)


def step(model: ImageClassifier) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    seed_all(0)
    loss = model.train_step(batch(), sgd(model, lr=0.0))['loss']
    return loss, gradients(model)


def assert_equal_steps(plain: ImageClassifier, saving: ImageClassifier) -> None:
    expected_loss, expected = step(plain)
    loss, got = step(saving)
    assert torch.equal(loss, expected_loss)
    assert got.keys() == expected.keys()
    for name, grad in expected.items():
        assert torch.equal(got[name], grad), name


@pytest.mark.parametrize('layers', LAYERS, ids=str)
def test_checkpointed_blocks(layers: list):
    augment = dict(type='ShuffleMixNFM', layers=layers)
    assert_equal_steps(build_model(augment), build_model(augment, with_cp=True))


@pytest.mark.parametrize('augment', AUGMENTS.values(), ids=AUGMENTS)
def test_checkpointed_backbone(augment: dict):
    for layers in LAYERS if augment['type'] != 'InputMixup' else [None]:
        setting: dict[str, Any] = augment if layers is None else augment | dict(layers=layers)
        plain, saving = build_model(setting), build_model(setting)
        checkpoint_backbone(saving, use_reentrant=False)
        with recorded_mixing() as plans:
            assert_equal_steps(plain, saving)
        inside = layers is not None and isinstance(layers[0], int) and layers[0] > 0
        assert len(plans) == (3 if inside else 2)


@pytest.mark.parametrize('layers', [['layer2'], ['layer4']], ids=str)
def test_reentrant_checkpoint_inside_the_backbone(layers: list):
    """Reentrant checkpoints run the first forward without gradients and a second in backward."""
    augment = dict(type='ShuffleMixNFM', layers=layers)
    plain, saving = build_model(augment), build_model(augment)
    for name in ('layer2', 'layer3', 'layer4'):
        stage = getattr(saving.backbone, name)
        stage.forward = partial(checkpoint, stage.forward, use_reentrant=True)
    assert_equal_steps(plain, saving)


def test_accumulation_with_checkpoints():
    augment = dict(type='ShuffleMixNFM', layers=[1, 2, 3])
    runs = []
    for saving in (False, True):
        model = build_model(augment)
        if saving:
            checkpoint_backbone(model, use_reentrant=False)
        optim = sgd(model, accumulative_counts=2)
        seed_all(0)
        runs.append([model.train_step(batch(seed=i), optim)['loss'].item() for i in range(6)])
    assert runs[0] == runs[1]
