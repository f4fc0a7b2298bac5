"""What is said by one of several processes."""

from __future__ import annotations

import argparse
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mmengine.config import Config
from mmengine.logging import MMLogger

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.config_dump import keep_own_config
from mmshufflemix.first_process import is_first_process
from mmshufflemix.launch import begin_process
from tests.tiny_job import ROOT
from tests.tool_runner import fail_tool

# Starts the tasks, ends all when one has failed, as srun does with --kill-on-bad-exit.
SRUN = """
import os, subprocess, sys, time
given = sys.argv[sys.argv.index(os.environ['PYTHON']):]
tasks = [
    subprocess.Popen(given, env={**os.environ, 'SLURM_PROCID': str(rank)}) for rank in range(3)
]
while all(task.poll() in (None, 0) for task in tasks):
    time.sleep(0.05)
for task in tasks:
    task.terminate()
sys.exit(max(task.wait() for task in tasks))
"""


@pytest.mark.parametrize(
    ('launcher', 'name'),
    [('pytorch', 'RANK'), ('slurm', 'SLURM_PROCID'), ('mpi', 'OMPI_COMM_WORLD_RANK')],
)
def test_ranks(launcher: str, name: str, monkeypatch: pytest.MonkeyPatch):
    for other in ('RANK', 'SLURM_PROCID', 'OMPI_COMM_WORLD_RANK'):
        monkeypatch.setenv(other, '2')
    assert not is_first_process(launcher)
    monkeypatch.setenv(name, '0')
    assert is_first_process(launcher)
    monkeypatch.delenv(name)
    assert is_first_process(launcher)
    # A task of Slurm may be a run of its own.
    assert is_first_process('none')
    assert is_first_process(None)


def wrong_value() -> None:
    raise ValueError('alpha must be more')


def wrong_option() -> None:
    new_parser('a tool').parse_args(['--bogus'])


@pytest.mark.parametrize('main', [wrong_value, wrong_option])
@pytest.mark.parametrize(
    ('rank', 'options', 'waits'),
    [
        ('0', ['--launcher=slurm'], []),
        ('3', ['--launcher=slurm'], [10.0]),
        ('3', ['--launcher', 'slurm'], [10.0]),
        # A run of its own, in a job of several.
        ('3', ['--launcher', 'none'], []),
    ],
)
def test_a_mistake_of_another_task_is_told_later(
    rank: str,
    options: list[str],
    waits: list[float],
    main: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        assert capsys.readouterr().err == ''
        slept.append(seconds)

    monkeypatch.setattr('mmshufflemix.cli.use_safe_loading', lambda: None)
    monkeypatch.setattr('mmshufflemix.cli.is_user_error', lambda error: True)
    monkeypatch.setattr('mmshufflemix.first_process.time.sleep', sleep)
    monkeypatch.setenv('SLURM_PROCID', rank)
    monkeypatch.setattr('sys.argv', ['tool', *options])
    with pytest.raises(SystemExit):
        run_cli(main)
    assert slept == waits
    assert 'error: ' in capsys.readouterr().err


@pytest.mark.slow
def test_slurm_prints_a_mistake_once(tmp_path: Path):
    srun = tmp_path / 'srun'
    srun.write_text(f'#!{sys.executable}\n{SRUN}')
    srun.chmod(0o755)
    config = tmp_path / 'config.py'
    config.write_text('epochs = 3\ntrain_cfg = dict(max_epochs=epochs - 1)\n')
    script = str(ROOT / 'tools' / 'slurm_train.sh')
    done = subprocess.run(
        ['bash', script, 'part', 'job', str(config), 'out', '--cfg-options', 'epochs=4'],
        env={'PATH': f'{tmp_path}:/usr/bin:/bin', 'PYTHON': sys.executable, 'GPUS': '3'},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert done.stderr.count('--cfg-options sets epochs, which') == 1
    assert done.stdout.count('--cfg-options sets epochs, which') == 0


@pytest.fixture
def _logger():
    name = f'notes{os.getpid()}'
    MMLogger.get_instance(name)
    yield
    # What comes later logs elsewhere again.
    MMLogger._instance_dict.pop(name)


@pytest.mark.usefixtures('_logger')
@pytest.mark.parametrize('rank', ['0', '1'])
def test_notes_before_the_processes_meet(
    rank: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setenv('RANK', rank)
    monkeypatch.setenv('LOCAL_RANK', rank)
    begin_process(argparse.Namespace(launcher='pytorch', local_rank=0))
    logs = MMLogger.get_current_instance().isEnabledFor(logging.WARNING)
    own = tmp_path / 'own.py'
    own.write_text('# mine\n')
    cfg = Config(dict(work_dir=str(tmp_path), launcher='pytorch'), filename=str(own))
    keep_own_config(cfg)
    assert logs == ('stays as it is' in capsys.readouterr().out) == (rank == '0')


@pytest.mark.parametrize('launcher', ['pytorch', 'slurm', 'mpi'])
@pytest.mark.parametrize('tool', ['train', 'test'])
def test_a_launcher_that_has_started_nothing(
    launcher: str, tool: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for name in ('RANK', 'SLURM_PROCID', 'OMPI_COMM_WORLD_RANK'):
        monkeypatch.delenv(name, raising=False)
    fail_tool(tool, 'config.py', *['a.pth'] * (tool == 'test'), '--launcher', launcher)
    assert f'error: --launcher {launcher} is for processes that it' in capsys.readouterr().err
