"""Mixing on a GPU gives what it gives on the CPU, and the host does not wait for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from mmshufflemix.functional import mix_targets, threshold_targets
from mmshufflemix.layers import LayerSite
from mmshufflemix.plan import MixPlan, draw_plan, mix_layer

PLANS: dict[str, dict[str, Any]] = {
    'soft': dict(ratio=0.5),
    'hard': dict(ratio=0.5, hard=True),
    'all channels': dict(),
    'per sample': dict(ratio=0.5, per_sample=True),
}
NOISE = dict(add_noise=0.4, mult_noise=0.2)
TOLERANCES = {torch.float32: 1e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2}
FORMATS = {'contiguous': torch.contiguous_format, 'channels last': torch.channels_last}
SHAPE = (6, 8, 5, 4)
# Above the size from which the CPU blends picture by picture.
LARGE = (2, 8, 72, 72)


def plan_of(shape: tuple[int, ...] = SHAPE, **settings: Any) -> MixPlan:
    site = LayerSite('backbone.layer1', shape[1], 1)
    return draw_plan([site], shape[0], generator=torch.Generator().manual_seed(1), **settings)


def features(shape: tuple[int, ...] = SHAPE) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(2))


def mix_by_loops(x: Tensor, plan: MixPlan) -> Tensor:
    """The definition, one channel of one image at a time."""
    mixed = x.clone()
    for image, partner in enumerate(plan.perm.tolist()):
        own = plan.lam[image].item() if isinstance(plan.lam, Tensor) else plan.lam
        channels = plan.channels[image] if plan.channels.ndim == 2 else plan.channels
        for channel in channels.tolist():
            mixed[image, channel] = own * x[image, channel] + (1 - own) * x[partner, channel]
    return mixed


@pytest.mark.parametrize('shape', [SHAPE, LARGE], ids=['small', 'large'])
@pytest.mark.parametrize('memory_format', FORMATS.values(), ids=list(FORMATS))
@pytest.mark.parametrize('dtype', TOLERANCES, ids=str)
@pytest.mark.parametrize('name', PLANS)
def test_features_are_mixed_alike(
    device: str,
    name: str,
    dtype: torch.dtype,
    memory_format: torch.memory_format,
    shape: tuple[int, ...],
):
    plan = plan_of(shape, **PLANS[name])
    x = features(shape).to(dtype)
    given = x.to(device).to(memory_format=memory_format)
    before = given.clone()
    mixed = mix_layer(given, plan)
    assert (mixed.device.type, mixed.dtype) == (device, dtype)
    assert mixed.is_contiguous(memory_format=memory_format)
    assert torch.equal(given, before)
    close = dict(atol=TOLERANCES[dtype], rtol=TOLERANCES[dtype])
    torch.testing.assert_close(mixed.cpu().float(), mix_by_loops(x.float(), plan), **close)


@pytest.mark.parametrize('name', PLANS)
def test_gradients_are_those_of_the_definition(device: str, name: str):
    plan = plan_of(**PLANS[name])
    ours, own = (features().to(place).requires_grad_() for place in (device, 'cpu'))
    seed = features().flip(0)
    mix_layer(ours, plan).backward(seed.to(device))
    mix_by_loops(own, plan).backward(seed)
    torch.testing.assert_close(ours.grad.cpu(), own.grad)


@pytest.mark.parametrize('name', PLANS)
def test_targets_are_mixed_alike(device: str, name: str):
    plan = plan_of(**PLANS[name])
    targets = torch.eye(SHAPE[0])
    on_cpu = mix_targets(targets, plan.perm, plan.label_weight)
    there = mix_targets(targets.to(device), plan.perm, plan.label_weight)
    assert there.device.type == device
    torch.testing.assert_close(there.cpu(), on_cpu)
    torch.testing.assert_close(there.sum(1).cpu(), torch.ones(SHAPE[0]))
    assert torch.equal(threshold_targets(there, 0.3).cpu(), threshold_targets(on_cpu, 0.3))


@pytest.mark.parametrize('dtype', TOLERANCES, ids=str)
def test_noise_is_made_on_the_device_and_repeats(device: str, dtype: torch.dtype):
    shape = (64, 8, 16, 16)
    quiet, noisy = plan_of(shape), plan_of(shape, **NOISE)
    x = features(shape).to(device, dtype)
    with _no_transfers_back(device):
        one, two = mix_layer(x, noisy), mix_layer(x, noisy)
    assert (one.device.type, one.dtype) == (device, dtype)
    assert torch.equal(one, two)
    noise = (one - mix_layer(x, quiet)).float()
    assert noise.abs().max() > 0
    # The mean of 131 072 values of scale below 0.7 is within 0.01 by five errors.
    assert abs(noise.mean().item()) < 0.01


@pytest.mark.parametrize('settings', [*PLANS.values(), NOISE], ids=[*PLANS, 'noise'])
def test_the_host_never_waits(device: str, settings: dict[str, Any]):
    # Where there is no GPU, a device without memory shows what would have to wait.
    place = 'cuda' if device == 'cuda' else 'meta'
    x = features().to(place).requires_grad_()
    targets = torch.eye(SHAPE[0]).to(place)
    # The noise needs a generator of the device, which meta has not.
    noisy = place == 'cuda' and bool(settings.get('add_noise'))
    settings = settings if noisy or settings is not NOISE else {}
    with _waiting_is_an_error(place):
        plan = plan_of(**settings)
        mixed = mix_layer(x, plan)
        mixed.backward(torch.ones_like(mixed))
        mix_targets(targets, plan.perm, plan.label_weight)
    assert x.grad is not None
    assert x.grad.device.type == place


def test_waiting_is_noticed():
    with pytest.raises(AssertionError, match='waits'), _waiting_is_an_error('meta'):
        torch.ones(2).to('meta')
    with _waiting_is_an_error('meta'):
        torch.ones(2).to('meta', non_blocking=True)


@contextmanager
def _waiting_is_an_error(place: str) -> Iterator[None]:
    if place == 'cuda':
        torch.cuda.set_sync_debug_mode('error')
        try:
            yield
        finally:
            torch.cuda.set_sync_debug_mode('default')
    else:
        with _Transfers():
            yield


class _Transfers(TorchDispatchMode):
    """Refuses copies between devices that wait for the one that gets them."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.ops.aten._to_copy.default:
            target = torch.device(kwargs.get('device') or args[0].device)
            moves = target.type != args[0].device.type
            assert not moves or kwargs.get('non_blocking'), f'a copy to {target} waits'
        return func(*args, **kwargs)


@contextmanager
def _no_transfers_back(device: str) -> Iterator[None]:
    with _waiting_is_an_error(device) if device == 'cuda' else _Transfers():
        yield
