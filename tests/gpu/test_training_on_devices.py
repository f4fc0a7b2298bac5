"""Steps in mixed precision and compiled, and a resumed training, each with mixing that is real."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import mmengine.optim.optimizer.amp_optimizer_wrapper as amp_module
import pytest
import torch
from mmengine.optim import AmpOptimWrapper
from mmengine.registry import RUNNERS

from tests.integration.recording import recorded_mixing
from tests.integration.settings import AUGMENTS, QUIET
from tests.integration.tiny import batch, build_model, seed_all, sgd
from tests.test_small_images.fast_jobs import read_job

STEPS = 4


@pytest.fixture
def amp_anywhere(device: str) -> Iterator[None]:
    """Let MMEngine's wrapper, which refuses the CPU, run there for the sake of this test."""
    if device == 'cpu' and torch.cuda.is_available():
        pytest.skip('MMEngine would autocast for the GPU')
    with patch.object(amp_module, 'is_cuda_available', lambda: True):
        yield


def amp(model: Any, dtype: str) -> AmpOptimWrapper:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    # Small enough that no step is left out until the scale has been found.
    return AmpOptimWrapper(optimizer=optimizer, dtype=dtype, loss_scale=128.0)


def sharp_model(augment: Any, device: str) -> Any:
    """Build a model whose loss depends much on the features."""
    model = build_model(augment).to(device)
    model.head.fc.weight.data *= 30
    return model


def losses_of(model: Any, optim: Any, step: Any = None) -> list[float]:
    seed_all(0)
    step = step or model.train_step
    return [step(batch(seed=number), optim)['loss'].item() for number in range(STEPS)]


def gap(one: list[float], two: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(one, two, strict=True))


@pytest.mark.parametrize('layers', ['auto', ['layer2']], ids=['auto', 'one layer'])
@pytest.mark.parametrize('dtype', ['bfloat16', 'float16'])
@pytest.mark.parametrize('name', AUGMENTS)
@pytest.mark.usefixtures('amp_anywhere')
def test_mixed_precision(device: str, name: str, dtype: str, layers: Any):
    if (device, dtype) == ('cpu', 'float16'):
        pytest.skip('MMEngine autocasts the CPU to bfloat16 only')
    if name == 'InputMixup' and layers != 'auto':
        pytest.skip('InputMixup has no layers')
    augment = QUIET[name] | ({} if layers == 'auto' else dict(layers=layers))
    exact, low, plain = (sharp_model(given, device) for given in (augment, augment, None))
    before = {key: value.clone() for key, value in low.state_dict().items()}
    expected = losses_of(exact, sgd(exact, lr=0.01))
    with recorded_mixing() as plans:
        losses = losses_of(low, amp(low, dtype))
    assert len(plans) == STEPS
    assert losses != expected
    assert gap(losses, expected) < 0.25 * gap(losses, losses_of(plain, amp(plain, dtype)))
    for key, value in low.state_dict().items():
        assert value.device.type == device
        assert value.dtype == before[key].dtype
        assert value.isfinite().all()
    assert any(not torch.equal(value, before[key]) for key, value in low.state_dict().items())


@pytest.mark.parametrize('dtype', ['bfloat16', 'float16'])
@pytest.mark.parametrize('name', ['NoisyFeatureMixup', 'ShuffleMixNFM'])
@pytest.mark.usefixtures('amp_anywhere')
def test_noise_in_mixed_precision(device: str, name: str, dtype: str):
    if (device, dtype) == ('cpu', 'float16'):
        pytest.skip('MMEngine autocasts the CPU to bfloat16 only')
    noisy, again, quiet = (
        sharp_model(settings[name], device) for settings in (AUGMENTS, AUGMENTS, QUIET)
    )
    losses = losses_of(noisy, amp(noisy, dtype))
    assert losses == pytest.approx(losses_of(again, amp(again, dtype)), rel=1e-2)
    assert losses != pytest.approx(losses_of(quiet, amp(quiet, dtype)), rel=1e-4)
    assert all(torch.isfinite(torch.tensor(losses)))


@pytest.mark.slow
def test_inductor_gives_what_eager_gives(device: str):
    torch.compiler.reset()
    augment = dict(type='ShuffleMix', layers=['layer2'])
    plain, compiled, unmixed = (sharp_model(given, device) for given in (augment, augment, None))
    expected = losses_of(plain, sgd(plain, lr=0.01))
    with recorded_mixing() as plans:
        step = torch.compile(compiled.train_step, backend='inductor')
        losses = losses_of(compiled, sgd(compiled, lr=0.01), step)
    assert len(plans) == STEPS
    assert gap(losses, expected) < 0.1 * gap(losses, losses_of(unmixed, sgd(unmixed, lr=0.01)))


@pytest.mark.gpu
def test_resumed_training_goes_on(runner_device: str, tmp_path: Path):
    whole = _train(read_job(tmp_path, tmp_path / 'whole', fast=True))
    assert next(whole.model.parameters()).device.type == runner_device
    (tmp_path / 'resumed').mkdir()
    checkpoint = shutil.copy(tmp_path / 'whole' / 'epoch_1.pth', tmp_path / 'resumed')
    cfg = read_job(tmp_path, tmp_path / 'resumed', fast=True, load_from=checkpoint, resume=True)
    with recorded_mixing() as plans:
        resumed = _train(cfg)
    assert len(plans) == 3
    one, two = (run.model.state_dict() for run in (whole, resumed))
    first = torch.load(checkpoint, weights_only=True, map_location='cpu')['state_dict']
    for key, value in one.items():
        # Convolutions of a GPU may add in another order each time.
        torch.testing.assert_close(two[key], value, atol=1e-4, rtol=1e-3)
    assert any((one[key].cpu() != first[key]).any() for key in one)


def _train(cfg: Any) -> Any:
    runner = RUNNERS.build(cfg)
    runner.train()
    return runner
