"""Our augments beside MMPretrain's, in one list; and the targets that they give."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from mmpretrain.models import ClsDataPreprocessor, ImageClassifier, MultiLabelLinearClsHead
from mmpretrain.structures import DataSample
from torch import Tensor

from mmshufflemix.plan import MixPlan
from tests.integration.recording import recorded_mixing
from tests.integration.settings import SETTINGS
from tests.integration.tiny import NUM_CLASSES, batch, build_model, seed_all, sgd


def chosen_next(num_augments: int, probs: list[float] | None) -> int:
    """Which augment MMPretrain draws next; its state stays as it is."""
    rng = np.random.RandomState()
    rng.set_state(np.random.get_state())
    if probs is not None:
        probs = [*probs, 1 - sum(probs)]
        num_augments += 1
    return int(rng.choice(num_augments, p=probs))


@pytest.mark.parametrize('probs', [None, [0.3, 0.2, 0.2, 0.1]], ids=['even', 'probs'])
def test_only_the_augment_that_was_drawn_is_active(probs: list[float] | None):
    augments = [
        dict(type='ShuffleMix', layers=['layer2']),
        dict(type='Mixup', alpha=0.8),
        dict(type='CutMix', alpha=1.0),
        dict(type='ManifoldMixup', layers=['layer3', 'neck']),
    ]
    sites = [{'backbone.layer2'}, set(), set(), {'backbone.layer3', 'neck'}]
    model = build_model(augments, copy.copy(probs))
    optim = sgd(model)
    seed_all(0)
    drawn = set()
    for i in range(30):
        index = chosen_next(len(augments), probs)
        drawn.add(index)
        with recorded_mixing() as plans:
            model.train_step(batch(seed=i), optim)
        names = {plan.site.name for plan in plans}
        ours = index in (0, 3)
        assert len(plans) == ours
        assert names <= (sites[index] if ours else set())
    assert drawn == set(range(4 if probs is None else 5))


def targets_by_loop(scores: Tensor, plan: MixPlan, threshold: float | None) -> Tensor:
    rows = []
    for i, partner in enumerate(plan.perm.tolist()):
        lam = plan.lam[i].item() if isinstance(plan.lam, Tensor) else plan.lam
        share = plan.channels.shape[-1] / plan.site.channels * (1 - lam)
        rows.append(
            [
                (1 - share) * own + share * other
                for own, other in zip(scores[i].tolist(), scores[partner].tolist(), strict=True)
            ]
        )
    if threshold is None:
        return torch.tensor(rows)
    return torch.tensor([[float(v >= threshold - 1e-9) for v in row] for row in rows])


def multi_label_model(augment: dict) -> ImageClassifier:
    single = build_model()
    return ImageClassifier(
        backbone=single.backbone,
        neck=single.neck,
        head=MultiLabelLinearClsHead(num_classes=NUM_CLASSES, in_channels=64),
        data_preprocessor=ClsDataPreprocessor(
            num_classes=NUM_CLASSES, batch_augments=dict(augments=augment)
        ),
    ).train()


@pytest.mark.parametrize('augment', SETTINGS.values(), ids=SETTINGS)
def test_targets_of_multi_label_images(augment: dict):
    """Images with no, one and several labels; classes of both partners stay exactly 1."""
    model = multi_label_model(augment)
    optim = sgd(model)
    labels = [[], [0], [0, 1], [1, 2, 3], [], [9], [0, 9]]
    scores = torch.zeros(len(labels), NUM_CLASSES)
    for row, present in enumerate(labels):
        scores[row, present] = 1
    for seed in range(8):
        seed_all(seed)
        data = batch(len(labels), seed)
        data['data_samples'] = [DataSample().set_gt_label(present) for present in labels]
        prepared = []
        handle = model.register_forward_pre_hook(
            lambda m, args, kwargs, seen=prepared: seen.append(kwargs), with_kwargs=True
        )
        with recorded_mixing() as plans:
            loss = model.train_step(data, optim)['loss']
        handle.remove()
        assert torch.isfinite(loss)
        got = torch.stack([sample.gt_score for sample in prepared[0]['data_samples']])
        expected = targets_by_loop(scores, plans[0], augment.get('label_threshold'))
        torch.testing.assert_close(got, expected, rtol=0, atol=1e-6)
        both = (scores == 1) & (scores[plans[0].perm] == 1)
        assert (got[both] == 1).all()
        neither = (scores == 0) & (scores[plans[0].perm] == 0)
        assert (got[neither] == 0).all()


def test_rows_have_draws_of_their_own():
    model = build_model(dict(type='ShuffleMixNFM', per_sample=True, layers=['layer1', 'layer2']))
    optim = sgd(model)
    with recorded_mixing() as plans:
        for i in range(20):
            model.train_step(batch(seed=i), optim)
    for plan in plans:
        assert plan.lam.shape == (8,)
        assert len(set(plan.lam.tolist())) == 8
        assert len({tuple(sorted(row)) for row in plan.channels.tolist()}) > 4
