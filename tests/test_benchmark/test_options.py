from __future__ import annotations

from pathlib import Path

import pytest
import torch
from mmpretrain.registry import MODELS

from mmshufflemix.benchmark.network import DEPTHS, preact_classifier
from tests.tool_runner import call_tool, fail_tool

FEW = 'must be a whole number from 2 to 1000000'
SEEDS = 'must be a whole number from 0 to 2147483647'
IMAGES = 'must be a whole number from 1 to 65536'
TIMED = ['timed', 'configs/cifar100/preact18_shufflemix_gpu.py', '--work-dir', 'unused']


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['--threads', '0', 'op'], '--threads: must be a whole number from 1 to 1024'),
        (
            ['--threads', '100000', 'op'],
            '--threads: must be a whole number from 1 to 1024, got',
        ),
        (['op', '--pairs', '1' + 23 * '0'], f"--pairs: {FEW}, got '1000"),
        (['op', '--seed', '-1'], f"--seed: {SEEDS}, got '-1'"),
        (['op', '--device', 'meta'], '--device: must be cpu, cuda or cuda:NUMBER'),
        (['op', '--shape', '2', '2', '0'], '--shape: must be a whole number from 1'),
        (['op', '--shape', '8'], '--shape: must be at least 2 images and 2 channels'),
        (['op', '--shape', '2', '1'], 'values in all, got 2x1'),
        (['op', '--shape', '65536', '65536'], 'at most 1073741824 values in all, got 65536x65536'),
        (['step', '--pairs', '1'], f"--pairs: {FEW}, got '1'"),
        (['step', '--batch-size', '0'], '--batch-size: must be a whole number from 2 to 65536'),
        (['step', '--depth', '19'], '--depth: invalid choice: 19 (choose from'),
        (['step', '--seed', 'x'], f"--seed: {SEEDS}, got 'x'"),
        (['step', '--device', 'cpu:3'], '--device: must be cpu, cuda or cuda:NUMBER'),
        (['robustness', '--pairs', '0'], f'--pairs: {FEW}'),
        (['robustness', '--batch-size', '-1'], f'--batch-size: {IMAGES}'),
        (['robustness', '--base-channels', '0'], '--base-channels: must be a whole number from 1'),
        (['robustness', '--seed', '-1'], f'--seed: {SEEDS}'),
        (['data', '--pairs', '1'], f'--pairs: {FEW}'),
        (['data', '--images', '0'], '--images: must be a whole number from 1 to 1000000'),
        (
            ['data', '--images', '16'],
            '--images: must be at least --batch-size, which is 128, got 16',
        ),
        (['data', '--batch-size', '0'], f'--batch-size: {IMAGES}'),
        (['data', '--workers', '-1'], '--workers: must be a whole number from 0 to 256'),
        (['data', '--steps-before', '-5'], '--steps-before: must be a whole number from 0'),
        (['data', '--seed', '4294967296'], f'--seed: {SEEDS}'),
        (['data-large', '.', '--size', '1'], '--size: must be a whole number from 2 to 8192'),
        (['data-large', '.', '--size', '100000'], '--size: must be a whole number from 2 to 8192'),
        (['data-large', '.', '--min-side', '0'], '--min-side: must be a whole number from 1'),
        (['data-large', '.', '--pairs', '0'], f'--pairs: {FEW}'),
        (['data-large', '.', '--seed', '-1'], f'--seed: {SEEDS}'),
        (['gpu', '--device', 'meta'], '--device: must be cpu, cuda or cuda:NUMBER'),
        ([*TIMED, '--minutes', 'nan'], "--minutes: must be a number from 0.01 to 10000, got 'nan'"),
        ([*TIMED, '--minutes', '1', '--epochs', '0'], '--epochs: must be a whole number from 1'),
        (
            [*TIMED, '--minutes', '1', '--epochs', '201'],
            '--epochs: must be at most 200, the epochs of the config, got 201',
        ),
    ],
)
def test_options_out_of_range(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as ended:
        call_tool('benchmark', *arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_gpu_command_without_a_gpu(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(torch.cuda, 'is_available', lambda: False)
    for command in (['gpu'], ['step', '--device', 'cuda'], ['op', '--device', 'cuda:0']):
        with pytest.raises(SystemExit) as ended:
            call_tool('benchmark', *command)
        assert ended.value.code == 2
        assert 'argument --device: ' in (error := capsys.readouterr().err)
        assert 'PyTorch sees no CUDA device' in error


def test_an_empty_name_of_the_json_file_is_refused(capsys: pytest.CaptureFixture[str]):
    fail_tool('benchmark', '--json', '', 'op', '--pairs', '2', '--shape', '2', '2')
    assert 'which is a folder; give the name of a file' in capsys.readouterr().err


def test_the_least_of_everything_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    for command in (
        ['op', '--pairs', '2', '--shape', '2', '2'],
        ['data', '--pairs', '2', '--images', '1', '--batch-size', '1'],
        ['robustness', '--pairs', '2', '--batch-size', '1', '--base-channels', '1'],
    ):
        call_tool('benchmark', '--json', tmp_path / 'a.json', *command)
    assert 'a robustness study takes' in capsys.readouterr().out
    assert (tmp_path / 'a.json').is_file()


@pytest.mark.parametrize('depth', DEPTHS)
def test_depths_have_a_network(depth: int):
    model = MODELS.build(preact_classifier(depth, 10, 1)).eval()
    assert model(torch.zeros(1, 3, 32, 32)).shape == (1, 10)


def test_all_depths_are_listed():
    with pytest.raises(ValueError, match=f'one of {", ".join(map(str, DEPTHS))}, got 19'):
        MODELS.build(preact_classifier(19, 10, 1))
