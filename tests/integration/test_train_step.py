"""Single training steps: batch sizes, accumulation, precision, errors, copies."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest
import torch
from mmengine.model import convert_sync_batchnorm
from mmengine.optim import OptimWrapper
from torch import nn

from tests.integration.recording import recorded_mixing
from tests.integration.settings import AUGMENTS, SETTINGS
from tests.integration.tiny import STAGES, batch, build_model, seed_all, sgd

each_augment = pytest.mark.parametrize('augment', AUGMENTS.values(), ids=AUGMENTS)
each_setting = pytest.mark.parametrize('augment', SETTINGS.values(), ids=SETTINGS)


def losses_of(model: nn.Module, steps: int, optim: OptimWrapper | None = None) -> list[float]:
    optim = optim or sgd(model)
    return [model.train_step(batch(seed=i), optim)['loss'].item() for i in range(steps)]


@each_setting
def test_every_batch_size(augment: dict):
    model = build_model(augment)
    optim = sgd(model)
    with recorded_mixing() as plans:
        for size in (1, 2, 3, 5, 7, 8):
            loss = model.train_step(batch(size), optim)['loss']
            assert torch.isfinite(loss)
            assert plans[-1].perm.numel() == size
    assert len(plans) == 6


def test_micro_batches_have_draws_of_their_own():
    model = build_model(dict(type='ShuffleMix', per_sample=True, layers=[1, 2]))
    with recorded_mixing() as plans:
        losses_of(model, 8, sgd(model, accumulative_counts=4))
    assert len({plan.noise_seed for plan in plans}) == 8
    assert len({tuple(plan.lam.tolist()) for plan in plans}) == 8
    assert len({tuple(plan.perm.tolist()) for plan in plans}) > 4


def test_accumulated_gradients_equal_those_of_the_large_batch():
    """With nothing to mix and fixed BatchNorm statistics."""
    augment = dict(type='ShuffleMix', ratio=0)
    parts, whole = (build_model(augment, norm_eval=True) for _ in range(2))
    optim = sgd(parts, lr=1, accumulative_counts=4)
    large = batch(32)
    for k in range(4):
        chosen = slice(8 * k, 8 * k + 8)
        parts.train_step({key: value[chosen] for key, value in large.items()}, optim)
    whole.train_step(large, sgd(whole, lr=1))
    for first, second in zip(parts.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(first, second, rtol=1e-4, atol=1e-5)


class CpuAmpWrapper(OptimWrapper):
    """Mixed precision as MMEngine's AmpOptimWrapper has it, which refuses to run on CPUs."""

    @contextmanager
    def optim_context(self, model: nn.Module) -> Iterator[None]:
        with super().optim_context(model), torch.autocast('cpu', torch.bfloat16):
            yield


@each_setting
def test_bfloat16(augment: dict):
    mixed_dtypes = set()
    half, full = build_model(augment), build_model(augment)
    seed_all(1)
    expected = losses_of(full, 6)
    half.backbone.layer2.register_forward_hook(lambda m, x, out: mixed_dtypes.add(out.dtype))
    seed_all(1)
    with recorded_mixing() as plans:
        got = losses_of(half, 6, CpuAmpWrapper(torch.optim.SGD(half.parameters(), lr=0.05)))
    assert mixed_dtypes == {torch.bfloat16}
    assert len(plans) == 6
    # Noise is drawn in the precision of the features, so it is other noise.
    noisy = 'N' in augment['type']
    assert got == pytest.approx(expected, rel=0.5 if noisy else 0.05)


class Failure(Exception):
    """Raised by a layer on purpose."""


@pytest.mark.parametrize('layers', [['layer1'], ['layer4'], ['neck'], ['head'], [0]], ids=str)
def test_an_error_in_the_model_leaves_no_trace(layers: list):
    model = build_model(dict(type='ShuffleMixNFM', layers=layers))
    twin = copy.deepcopy(model)
    optim, twin_optim = sgd(model), sgd(twin)
    for each, wrapper in ((model, optim), (twin, twin_optim)):
        seed_all(0)
        each.train_step(batch(), wrapper)

    def fail(*args: Any) -> None:
        raise Failure

    handle = model.backbone.layer3.register_forward_hook(fail)
    with pytest.raises(Failure):
        model.train_step(batch(seed=1), optim)
    handle.remove()
    # The layers before the failing one have seen the batch.
    model.load_state_dict(twin.state_dict())

    images = torch.rand(4, 3, 16, 16)
    with recorded_mixing() as plans:
        assert torch.equal(model.extract_feat(images)[0], twin.extract_feat(images)[0])
        assert torch.equal(model(images), twin(images))
        results = []
        for each in (model, twin):
            each.eval()
            results.append(torch.stack([s.pred_score for s in each.val_step(batch(5))]))
            each.train()
        assert torch.equal(*results)
        assert plans == []
        results = []
        for each, wrapper in ((model, optim), (twin, twin_optim)):
            seed_all(2)
            results.append(each.train_step(batch(seed=2), wrapper)['loss'])
        assert torch.equal(*results)
        assert len(plans) == 2


def test_an_error_in_the_data_leaves_no_trace():
    model = build_model(dict(type='ShuffleMix', layers=[2]))
    optim = sgd(model)
    model.train_step(batch(), optim)
    bad = batch()
    for sample in bad['data_samples']:
        sample.set_gt_score(torch.full((10,), 2.0))
    with pytest.raises(ValueError, match=r'targets must lie in \[0, 1\]'):
        model.train_step(bad, optim)
    with recorded_mixing() as plans:
        model.train_step(batch(), optim)
    assert len(plans) == 1


@each_augment
def test_only_training_steps_mix(augment: dict):
    model = build_model(augment)
    losses_of(model, 2)
    plain = build_model()
    plain.load_state_dict(model.state_dict())
    images = torch.rand(4, 3, 16, 16)
    with recorded_mixing() as plans:
        for training in (True, False):
            for each in (model, plain):
                each.train(training)
            assert torch.equal(model(images), plain(images))
            assert torch.equal(model(images, mode='tensor'), plain(images, mode='tensor'))
            assert torch.equal(model.extract_feat(images)[0], plain.extract_feat(images)[0])
            predictions = [
                torch.stack([s.pred_score for s in step(batch(5))])
                for each in (model, plain)
                for step in (each.val_step, each.test_step)
            ]
            assert all(torch.equal(p, predictions[0]) for p in predictions)
            losses = [
                each(**each.data_preprocessor(batch(5), False), mode='loss')['loss']
                for each in (model, plain)
            ]
            assert torch.equal(*losses)
        assert plans == []


@each_augment
@pytest.mark.parametrize(
    'duplicate',
    [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))],
    ids=['deepcopy', 'pickle'],
)
def test_copies_in_the_middle_of_a_run(augment: dict, duplicate: Any):
    model = build_model(augment)
    losses_of(model, 3)
    prepared = model.data_preprocessor(batch(), True)
    twin = duplicate(model)
    # What waits to be mixed belongs to the model alone; mixed images are anybody's.
    refused = pytest.raises(RuntimeError, match='hidden layer of another model')
    with recorded_mixing() as plans:
        with nullcontext() if augment['type'] == 'InputMixup' else refused:
            twin(**prepared, mode='loss')
    assert plans == []
    model(**prepared, mode='loss')
    twin.load_state_dict(model.state_dict())

    assert list(twin.state_dict()) == list(build_model().state_dict())
    runs = []
    for each in (model, twin):
        seed_all(5)
        with recorded_mixing() as plans:
            runs.append((losses_of(each, 4), [plan.site for plan in plans]))
    assert runs[0] == runs[1]
    assert len(runs[0][1]) == 4


def test_frozen_stages():
    model = build_model(dict(type='ShuffleMix', layers=[0, 1, 2, 3, 4]), frozen_stages=2)
    model.train()
    frozen = ('conv1', 'bn1', 'layer1', 'layer2')
    before = copy.deepcopy(model.backbone.state_dict())
    with recorded_mixing() as plans:
        losses_of(model, 12)
    assert {plan.site.name for plan in plans} == {'input', *STAGES}
    for name, value in model.backbone.state_dict().items():
        assert torch.equal(value, before[name]) == name.startswith(frozen), name


def test_finding_the_layers_changes_nothing():
    """The probe of the first batch touches neither weights, statistics, flags nor draws."""
    first, second = (build_model(dict(type='ShuffleMix'), frozen_stages=1) for _ in range(2))
    first.train()
    second.train()
    losses_of(second, 1)  # its layers are known from here on
    second.load_state_dict(first.state_dict())
    flags = {name: module.training for name, module in first.named_modules()}
    runs = []
    for each in (first, second):
        seed_all(0)
        runs.append(losses_of(each, 5))
    assert runs[0] == runs[1]
    assert flags == {name: module.training for name, module in first.named_modules()}


@pytest.mark.parametrize('steps_before', [0, 3])
def test_batch_norm_converted_to_synchronised(steps_before: int):
    """The conversion builds new modules; DDP itself has SyncBatchNorm on GPUs only."""
    model = build_model(dict(type='ShuffleMix', layers=['layer1', 'layer3.0', 'conv1']))
    losses_of(model, steps_before)
    converted = convert_sync_batchnorm(model, 'torch')
    assert sum(isinstance(module, nn.SyncBatchNorm) for module in converted.modules()) == 20
    with recorded_mixing() as plans:
        losses_of(converted, 9)
    names = [plan.site.name for plan in plans]
    assert len(names) == 9
    assert set(names) == {'backbone.layer1', 'backbone.layer3.0', 'backbone.conv1'}
