"""ML-GCN under mixing: any layer of the image branch, never the label graph."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from mmpretrain.registry import MODELS
from mmpretrain.structures import DataSample
from torch import Tensor, nn

import mmshufflemix
from tests.integration.recording import recorded_mixing
from tests.integration.tiny import NUM_CLASSES, batch, model_config, seed_all, sgd

LABELS = [[], [0], [0, 1], [1, 2, 3], [4], [5, 9], [0, 9], [8]]
SITES = {
    'input': 'input',
    'layer1': 'backbone.layer1',
    'layer2': 'backbone.layer2',
    'layer3': 'backbone.layer3',
    'layer4': 'backbone.layer4',
    'layer3.0.conv1': 'backbone.layer3.0.conv1',
    'neck': 'neck',
    'head': 'head',
    4: 'backbone.layer4',
    0: 'input',
}
LOSSES = {
    'BCE': {'type': 'CrossEntropyLoss', 'use_sigmoid': True},
    'asymmetric': {'type': 'AsymmetricLoss'},
    'focal': {'type': 'FocalLoss'},
}


def build(augment: dict, loss: dict = LOSSES['BCE']) -> Any:
    """Build a small ML-GCN in training mode."""
    torch.manual_seed(0)
    pairs = torch.triu(torch.ones(NUM_CLASSES, NUM_CLASSES), 1)
    graph = {
        'classes': [f'class {index}' for index in range(NUM_CLASSES)],
        'counts': torch.full((NUM_CLASSES,), 2).numpy(),
        'cooccurrence': (pairs + pairs.T).numpy(),
        'embeddings': torch.randn(NUM_CLASSES, 6).numpy(),
    }
    config = model_config(augment)
    config['neck'] = {'type': 'GlobalMaxPooling'}
    config['head'] = {
        'type': 'MLGCNHead',
        'num_classes': NUM_CLASSES,
        'in_channels': 64,
        'hidden_channels': 16,
        'embed_dim': 6,
        'label_graph': graph,
        'loss': loss,
    }
    return MODELS.build(config).train()


def data(seed: int = 0) -> dict:
    # As many images as classes: a graph mixed by mistake would not fail for its size.
    labels = [*LABELS, [2], [3, 7]]
    samples = [DataSample().set_gt_label(ids) for ids in labels]
    return {**batch(len(labels), seed), 'data_samples': samples}


def recorded_inputs(module: nn.Module) -> list[tuple[Tensor, ...]]:
    """List what a module is called with from now on."""
    calls: list[tuple[Tensor, ...]] = []
    module.register_forward_pre_hook(lambda _, args: calls.append(tuple(args)))
    return calls


@pytest.mark.parametrize('kind', ['ShuffleMix', 'ManifoldMixup', 'ShuffleMixNFM'])
@pytest.mark.parametrize('layer', SITES)
def test_any_layer_is_mixed_and_the_label_graph_never(layer: str | int, kind: str) -> None:
    model = build({'type': kind, 'layers': [layer], 'label_threshold': 0.3})
    head, optim = model.head, sgd(model)
    before = [buffer.clone() for buffer in head.buffers()]
    classifier = head.gcn2.weight.clone()
    into_graph = recorded_inputs(head.gcn1)
    with recorded_mixing() as plans:
        losses = [model.train_step(data(seed), optim)['loss'] for seed in range(3)]
    assert [plan.site.name for plan in plans] == [SITES[layer]] * 3
    assert all(torch.isfinite(loss) for loss in losses)
    assert not torch.equal(head.gcn2.weight, classifier)
    for buffer, expected in zip(head.buffers(), before, strict=True):
        assert torch.equal(buffer, expected)
    assert len(into_graph) >= 3
    for embeddings, adjacency in into_graph:
        assert torch.equal(embeddings, head.embeddings)
        assert torch.equal(adjacency, head.adjacency)


@pytest.mark.parametrize('layer', ['gcn1', 'gcn2'])
def test_layers_of_the_label_branch_are_refused(layer: str) -> None:
    model = build({'type': 'ShuffleMix', 'layers': [f'head.{layer}']})
    with pytest.raises(ValueError, match='lies inside the head, where the first axis need not'):
        model.train_step(data(), sgd(model))


@pytest.mark.parametrize('loss', LOSSES)
@pytest.mark.parametrize('threshold', [0.1, 0.3, 0.5, 1.0])
def test_losses_see_exactly_zero_and_one(loss: str, threshold: float) -> None:
    model = build({'type': 'ShuffleMix', 'label_threshold': threshold}, LOSSES[loss])
    optim = sgd(model)
    seen = recorded_inputs(model.head.loss_module)
    seed_all(1)
    for seed in range(6):
        model.train_step(data(seed), optim)
    assert len(seen) == 6
    for _, targets in seen:
        assert targets.is_floating_point()
        assert set(targets.unique().tolist()) == {0.0, 1.0}


@pytest.mark.parametrize('shape', [(10, 1, NUM_CLASSES), (NUM_CLASSES,), (9, NUM_CLASSES)])
def test_targets_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    augment = mmshufflemix.ShuffleMix(layers=[0], label_threshold=0.3)
    with pytest.raises(ValueError, match=r'must have the shape \(10, classes\), got '):
        augment(torch.zeros(10, 3, 4, 4), torch.zeros(shape))


def test_without_a_threshold_targets_are_soft() -> None:
    model = build({'type': 'ManifoldMixup', 'layers': ['layer2']})
    seen = recorded_inputs(model.head.loss_module)
    seed_all(1)
    model.train_step(data(), sgd(model))
    [(_, targets)] = seen
    assert ((targets > 0) & (targets < 1)).any()


def test_why_soft_targets_are_warned_about() -> None:
    """MMPretrain's asymmetric loss of the target 1/2 is not the mean of those of 0 and 1."""
    loss = MODELS.build(LOSSES['asymmetric'])
    scores = torch.full((1, 2), 0.7)
    soft, zero, one = (loss(scores, torch.full((1, 2), t)).item() for t in (0.5, 0.0, 1.0))
    assert abs(soft - (zero + one) / 2) > 0.05
