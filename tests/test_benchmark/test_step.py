from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mmshufflemix.benchmark import STEP_AUGMENTS, StepCost, describe_machine, measure_step
from tests.integration.recording import recorded_mixing

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize('name', ['ShuffleMix', 'InputMixup'])
def test_one_of_the_two_steps_mixes(name: str):
    done: list[int] = []
    with recorded_mixing() as plans:
        times = measure_step(STEP_AUGMENTS[name], StepCost(batch_size=2, pairs=2), done.append)
    assert len(times.ratios) == 2
    assert min(times.base + times.other) > 0
    assert done == [1, 2]
    assert len(plans) == 4  # two pairs and two to warm up


@pytest.mark.parametrize('options', [{'precision': 'bf16'}, {'ema': True}])
def test_steps_of_other_kinds_mix_too(options: dict):
    cost = StepCost(batch_size=2, pairs=2, **options)
    with recorded_mixing() as plans:
        times = measure_step(STEP_AUGMENTS['ShuffleMix'], cost)
    assert len(times.ratios) == 2
    assert len(plans) == 4


def test_machine_is_named():
    machine = describe_machine()
    assert machine['threads'] >= 1
    assert machine['torch'].startswith('torch ')
    assert 'mmpretrain' in machine['mmpretrain']


@pytest.mark.slow
def test_tool_writes_its_results(tmp_path):
    options = ['--pairs', '2', '--batch-size', '2', '--augments', 'ManifoldMixup']
    common = ['--threads', '1', '--json', tmp_path / 'cost.json']
    done = subprocess.run(
        [sys.executable, 'tools/benchmark.py', *common, 'step', *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert 'ManifoldMixup' in done.stdout
    record = json.loads((tmp_path / 'cost.json').read_text())
    assert record['results']['ManifoldMixup']['pairs'] == 2
    assert record['machine']['threads'] == record['settings']['threads'] == 1
