"""Features and labels are mixed alike, shown without trusting the code that mixes."""

from __future__ import annotations

import copy

import pytest
import torch
import torch.nn.functional as F
from mmengine.model import BaseModule
from mmpretrain.models import ClsDataPreprocessor, ImageClassifier
from mmpretrain.structures import DataSample
from torch import Tensor, nn

from mmshufflemix.layers import LayerSite
from mmshufflemix.plan import MixPlan
from tests.integration.recording import fixed_plan
from tests.integration.settings import QUIET
from tests.integration.tiny import CHANNELS, NUM_CLASSES, batch, build_model, gradients, seed_all

SITES = {
    'input': 3,
    'backbone.conv1': 8,
    **{f'backbone.{name}': channels for name, channels in CHANNELS.items()},
    'neck': 64,
    'head': 64,
}


def mixed_by_loop(x: Tensor, plan: MixPlan) -> Tensor:
    rows = []
    for i, partner in enumerate(plan.perm.tolist()):
        lam = plan.lam[i].item() if isinstance(plan.lam, Tensor) else plan.lam
        channels = (plan.channels[i] if plan.channels.ndim == 2 else plan.channels).tolist()
        row = [
            lam * x[i, c] + (1 - lam) * x[partner, c] if c in channels else x[i, c]
            for c in range(x.shape[1])
        ]
        rows.append(torch.stack(row))
    return torch.stack(rows)


def split_network(model: ImageClassifier, images: Tensor, plan: MixPlan) -> Tensor:
    """Logits of the network written out, mixed by a loop at the layer of the plan."""

    def at(name: str, x: Tensor) -> Tensor:
        return mixed_by_loop(x, plan) if plan.site.name == name else x

    backbone = model.backbone
    x = at('input', (images.float() - 127.5) / 127.5)
    x = at('backbone.conv1', F.conv2d(x, backbone.conv1.weight, padding=1))
    x = F.relu(backbone.norm1(x))
    for name in CHANNELS:
        x = at(f'backbone.{name}', getattr(backbone, name)(x))
    x = at('head', at('neck', x.mean(dim=(2, 3))))
    return F.linear(x, model.head.fc.weight, model.head.fc.bias)


def plan_at(name: str, per_sample: bool, size: int = 6) -> MixPlan:
    channels = SITES[name]
    rng = torch.Generator().manual_seed(1)
    order = torch.rand(size, channels, generator=rng).argsort(dim=1)[:, : channels // 2]
    return MixPlan(
        site=LayerSite(name, channels, 1),
        perm=torch.tensor([3, 2, 0, 5, 4, 1]),
        channels=order if per_sample else order[0],
        lam=torch.linspace(0, 0.9, size, dtype=torch.float64) if per_sample else 0.3,
        per_sample=per_sample,
    )


@pytest.mark.parametrize('per_sample', [False, True], ids=['batch', 'per-sample'])
@pytest.mark.parametrize('name', SITES)
def test_logits_loss_and_gradients_are_those_of_the_split_network(name: str, per_sample: bool):
    model = build_model(dict(type='ShuffleMix', layers=[name]))
    reference = copy.deepcopy(model)
    plain = copy.deepcopy(model)
    data, plan = batch(6), plan_at(name, per_sample)
    logits = []
    model.head.fc.register_forward_hook(lambda module, args, output: logits.append(output))

    with fixed_plan(plan):
        prepared = model.data_preprocessor(copy.deepcopy(data), True)
    loss = model(**prepared, mode='loss')['loss']
    loss.backward()

    expected = split_network(reference, data['inputs'], plan)
    weights = 1 - plan.channels.shape[-1] / SITES[name] * (1 - torch.as_tensor(plan.lam).expand(6))
    targets = torch.zeros(6, NUM_CLASSES)
    for i, partner in enumerate(plan.perm.tolist()):
        targets[i, i] += weights[i]
        targets[i, partner] += 1 - weights[i]
    reference_loss = -(targets * F.log_softmax(expected, dim=1)).sum(dim=1).mean()
    reference_loss.backward()

    torch.testing.assert_close(logits[-1], expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(loss, reference_loss, rtol=1e-5, atol=1e-6)
    for key, grad in gradients(reference).items():
        torch.testing.assert_close(gradients(model)[key], grad, rtol=1e-3, atol=1e-5)

    unmixed = plain(plain.data_preprocessor(data, False)['inputs'])
    assert (unmixed - expected).abs().max() > 1e-3


class Repeat(nn.Module):
    """Twice as many channels, all with the same content."""

    def forward(self, x: Tensor) -> Tensor:
        return x.repeat_interleave(2, dim=1)


class IdentityBackbone(BaseModule):
    """Four stages that keep what an image says; its height is the class axis."""

    def __init__(self) -> None:
        super().__init__()
        self.stages = nn.ModuleList(Repeat() for _ in range(4))

    def forward(self, x: Tensor) -> tuple[Tensor]:
        for stage in self.stages:
            x = stage(x)
        return (x,)


class MeanHead(BaseModule):
    """Scores are the mean over the channels; the loss is their distance from the targets."""

    def forward(self, feats: tuple[Tensor]) -> Tensor:
        return feats[-1].mean(dim=(1, 3))

    def loss(self, feats: tuple[Tensor], data_samples: list[DataSample]) -> dict[str, Tensor]:
        self.scores = self(feats)
        self.targets = torch.stack([sample.gt_score for sample in data_samples])
        return dict(loss=(self.scores - self.targets).abs().max())


LAYERS = ['auto', [0], [1], [2], [3], [4], ['neck'], ['head'], [0, 'neck', -1]]


CASES = [
    pytest.param(setting | (dict() if images_only else dict(layers=layers)), id=f'{name}-{layers}')
    for name, setting in QUIET.items()
    for images_only in [setting['type'] == 'InputMixup']
    for layers in ([[0]] if images_only else LAYERS)
]


@pytest.mark.parametrize('augment', CASES)
def test_features_that_are_the_targets_stay_the_targets(augment: dict):
    """Every channel of an image says its target, so the mean over channels says how it was mixed.

    Holds row by row only if the labels are weighted with the share of channels really mixed.
    """
    model = ImageClassifier(
        backbone=IdentityBackbone(),
        neck=nn.Identity(),
        head=MeanHead(),
        data_preprocessor=ClsDataPreprocessor(batch_augments=dict(augments=augment)),
    ).train()
    seed_all(0)
    moved = 0.0
    for _ in range(12):
        scores = torch.rand(5, NUM_CLASSES)
        images = scores[:, None, :, None].expand(5, 3, NUM_CLASSES, NUM_CLASSES).contiguous()
        samples = [DataSample().set_gt_score(score) for score in scores]
        data = model.data_preprocessor(dict(inputs=images, data_samples=samples), True)
        loss = model(**data, mode='loss')['loss']
        threshold = augment.get('label_threshold')
        if threshold is None:
            assert loss < 1e-5
        else:
            near = (model.head.scores - threshold).abs() < 1e-5
            assert (((model.head.scores >= threshold) == (model.head.targets == 1)) | near).all()
        moved = max(moved, (model.head.scores - scores).abs().max().item())
    mixes = augment.get('ratio') != 0 and augment.get('alpha') != 0
    assert (moved > 0.05) == mixes
