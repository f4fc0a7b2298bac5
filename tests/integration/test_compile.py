"""torch.compile, as MMEngine applies it: to the whole training step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from tests.integration.recording import recorded_mixing, train
from tests.integration.settings import AUGMENTS
from tests.integration.tiny import STAGES, batch, build_model, job, seed_all, sgd

pytestmark = pytest.mark.slow
NO_VALIDATION = dict(by_epoch=True, max_epochs=17, val_interval=99)


@pytest.fixture(autouse=True)
def fresh_compiler() -> Iterator[None]:
    """Start without compiled code, and turn frames that are given up on into errors."""
    torch.compiler.reset()
    with torch._dynamo.config.patch(fail_on_recompile_limit_hit=True):
        yield
    torch.compiler.reset()


def both(tmp_path: Any, augment: dict, backend: str, **options: Any) -> tuple[Any, Any]:
    """Logs of one job as it is and compiled."""
    plain = train(job(tmp_path / 'plain', augment, **options))[1]
    compiled = train(job(tmp_path / 'compiled', augment, compile=dict(backend=backend), **options))[
        1
    ]
    return plain, compiled


def test_fifty_steps_with_the_layer_drawn_each_time(tmp_path):
    plain, compiled = both(tmp_path, dict(type='ShuffleMix'), 'eager', train_cfg=NO_VALIDATION)
    assert len(compiled.steps) == 51
    assert [mixed for _, mixed in compiled.counts()] == [1] * 51
    sites = [plan.site.name for plan in compiled.plans]
    assert set(sites) == {'input', *STAGES}
    assert sites == [plan.site.name for plan in plain.plans]
    losses, expected = ([loss for *_, loss in log.steps] for log in (compiled, plain))
    assert losses == pytest.approx(expected, rel=1e-6)
    # Unmixed steps would not give these losses.
    unmixed = train(job(tmp_path / 'unmixed', train_cfg=NO_VALIDATION))[1]
    for step in (0, 1, 49):
        assert abs(unmixed.steps[step][2] - losses[step]) > 1e-4


@pytest.mark.parametrize('name', AUGMENTS)
def test_every_augment(name: str):
    losses = []
    for compiled in (False, True):
        model = build_model(AUGMENTS[name])
        step = torch.compile(model.train_step, backend='eager') if compiled else model.train_step
        optim = sgd(model)
        seed_all(0)
        with recorded_mixing() as plans:
            losses.append([step(batch(seed=i), optim)['loss'].item() for i in range(6)])
        assert len(plans) == 6
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)


def test_graphs_of_autograd(tmp_path):
    augment = dict(type='ShuffleMixNFM', layers=[0, 2, 'neck'])
    plain, compiled = both(tmp_path, augment, 'aot_eager', max_epochs=1)
    assert compiled.counts() == plain.counts() == [(1, 1)] * 3
    losses, expected = ([loss for *_, loss in log.steps] for log in (compiled, plain))
    assert losses == pytest.approx(expected, rel=1e-3)


def test_recipes_switched_in_mid_run(tmp_path):
    def recipe(epoch: int, augments: Any) -> dict[str, Any]:
        return dict(action_epoch=epoch, batch_augments=augments)

    schedule = [
        recipe(2, dict(augments=dict(type='ShuffleMix', layers=['layer1']))),
        recipe(3, dict(augments=dict(type='ManifoldMixup', layers=['layer3', 'head']))),
        recipe(4, None),
    ]
    hook = dict(type='SwitchRecipeHook', schedule=schedule)
    plain, compiled = both(tmp_path, None, 'eager', max_epochs=4, custom_hooks=[hook])
    assert compiled.counts() == [
        (epoch, mixed) for epoch, mixed in ((1, 0), (2, 1), (3, 1), (4, 0)) for _ in range(3)
    ]
    losses, expected = ([loss for *_, loss in log.steps] for log in (compiled, plain))
    assert losses == pytest.approx(expected, rel=1e-4)


def test_an_error_in_the_compiled_step_leaves_no_trace():
    model = build_model(dict(type='ShuffleMix', layers=['layer1', 'layer2']))
    optim = sgd(model)
    failing = False

    @torch.compiler.disable
    def maybe_fail(module: Any, args: tuple) -> None:
        if failing:
            raise ArithmeticError('on purpose')

    model.backbone.layer3.register_forward_pre_hook(maybe_fail)
    step = torch.compile(model.train_step, backend='eager')
    for i in range(3):
        step(batch(seed=i), optim)
    failing = True
    with pytest.raises(ArithmeticError, match='on purpose'):
        step(batch(), optim)
    failing = False
    plain = build_model()
    plain.load_state_dict(model.state_dict())
    images = torch.rand(8, 3, 16, 16)
    with recorded_mixing() as plans:
        assert torch.equal(model.extract_feat(images)[0], plain.extract_feat(images)[0])
        assert torch.equal(model(images), plain(images))
        model.eval().val_step(batch())
        assert plans == []
        model.train()
        step(batch(), optim)
    assert len(plans) == 1
