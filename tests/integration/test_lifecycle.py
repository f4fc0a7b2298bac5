"""Each augment through MMEngine's Runner: epochs, validation, checkpoints, hooks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.integration.recording import train
from tests.integration.settings import AUGMENTS
from tests.integration.tiny import build_model, job

each_augment = pytest.mark.parametrize('augment', AUGMENTS.values(), ids=AUGMENTS)


@each_augment
def test_epochs_validation_and_resume(augment: dict, tmp_path):
    runner, log = train(job(tmp_path, augment))
    assert log.counts() == [(1, 1)] * 3 + [(2, 1)] * 3
    assert log.mixed_in_validation == 0
    assert all(torch.isfinite(p).all() for p in runner.model.parameters())

    saved = torch.load(tmp_path / 'epoch_2.pth', weights_only=False)['state_dict']
    assert list(saved) == list(build_model().state_dict())

    resumed, log = train(job(tmp_path, augment, max_epochs=3, resume=True))
    assert log.counts() == [(3, 1)] * 3
    assert resumed.iter == 9


def test_fresh_runs_of_one_seed_are_equal(tmp_path):
    augment = dict(type='ShuffleMixNFM', per_sample=True)
    first, second = (train(job(tmp_path / name, augment))[1] for name in 'ab')
    assert first.steps == second.steps
    lams = [[plan.lam.tolist() for plan in log.plans] for log in (first, second)]
    assert lams[0] == lams[1]
    assert len({tuple(lam) for lam in lams[0]}) == 6


@each_augment
def test_moving_average(augment: dict, tmp_path):
    hook = dict(type='EMAHook', momentum=0.5)
    runner, log = train(job(tmp_path, augment, custom_hooks=[hook]))
    assert [mixed for _, mixed in log.counts()] == [1] * 6
    assert log.mixed_in_validation == 0
    average = next(h for h in runner.hooks if type(h).__name__ == 'EMAHook').ema_model.module
    assert average is not runner.model
    assert average.hidden_mixer is not runner.model.hidden_mixer
    assert average.hidden_mixer.model is average
    assert average.data_preprocessor.hidden_mixer is average.hidden_mixer
    assert average.hidden_mixer.layers.plan is None
    saved = torch.load(tmp_path / 'epoch_2.pth', weights_only=False)
    averaged = {key.removeprefix('module.') for key in saved['ema_state_dict']} - {'steps'}
    assert averaged == set(build_model().state_dict())


@each_augment
def test_recipe_switched_off(augment: dict, tmp_path):
    off = dict(type='SwitchRecipeHook', schedule=[dict(action_epoch=2, batch_augments=None)])
    _, log = train(job(tmp_path, augment, custom_hooks=[off]))
    assert log.counts() == [(1, 1)] * 3 + [(2, 0)] * 3
    _, log = train(job(tmp_path, augment, 3, custom_hooks=[off], resume=True))
    assert log.counts() == [(3, 0)] * 3


def test_recipe_switched_on_and_to_other_layers(tmp_path):
    def recipe(epoch: int, **augment: Any) -> dict[str, Any]:
        return dict(action_epoch=epoch, batch_augments=dict(augments=augment))

    schedule = [
        recipe(2, type='ShuffleMix', layers=[3]),
        recipe(3, type='ManifoldMixup', layers=['layer1', 'neck']),
    ]
    hook = dict(type='SwitchRecipeHook', schedule=schedule)
    _, log = train(job(tmp_path, None, 3, custom_hooks=[hook]))
    assert log.counts() == [(1, 0)] * 3 + [(2, 1)] * 3 + [(3, 1)] * 3
    names = [plan.site.name for plan in log.plans]
    assert names[:3] == ['backbone.layer3'] * 3
    assert set(names[3:]) <= {'backbone.layer1', 'neck'}


def test_recipe_may_be_the_first_to_import_the_package(tmp_path):
    """The config names the augment by its dotted path, and the model was built before."""
    script = Path(__file__).with_name('late_import.py')
    done = subprocess.run(
        [sys.executable, '-m', f'tests.integration.{script.stem}', str(tmp_path)],
        cwd=script.parents[2],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    mixed = json.loads(done.stdout.splitlines()[-1])
    assert mixed == [[2, 'backbone.layer2']] * 3
