"""The tool as users start it, on tiny data."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from mmshufflemix.reproduce import (
    TABLES,
    Metric,
    Row,
    Table,
    plan_jobs,
    register_table,
    run_jobs,
    write_report,
)
from mmshufflemix.reproduce.fingerprint import write_fingerprint
from mmshufflemix.reproduce.lock import hold_lock
from mmshufflemix.robustness import PAPER_LEVELS
from tests.test_reproduce.study import tiny_table, write_result
from tests.tiny_job import ROOT, write_job
from tests.tool_runner import call_tool

SEVERAL_EPOCHS = 6


@pytest.fixture
def config(tmp_path: Path) -> Iterator[Path]:
    path = write_job(tmp_path)
    register_table(tiny_table(path))
    yield path
    del TABLES['tiny_job']


def test_dry_run_writes_nothing(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture):
    out = tmp_path / 'out'
    options = ('--dry-run', '--epochs', '1', '--seeds', '3', '3')
    call_tool('reproduce', 'tiny_job', '--out', out, *options)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith(' ')] == [
        'half seed 3: to run',
        'most seed 3: to run',
    ]
    folder = out / 'tiny_job_1_epochs' / 'half' / 'seed_3'
    expected = f'{ROOT}/tools/train.py {folder}/config.py --work-dir {folder}'
    assert lines[1].strip() == f'{sys.executable} {expected}'
    assert not out.exists()


def test_collect_runs_nothing(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture):
    call_tool('reproduce', 'tiny_job', '--out', tmp_path / 'out', '--collect')
    assert capsys.readouterr().out.count('not run') == 2
    assert sorted(path.name for path in (tmp_path / 'out' / 'tiny_job').iterdir()) == [
        'table.csv',
        'table.json',
        'table.md',
    ]


def test_rows_with_other_settings_are_neither_joined_nor_hidden(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture
):
    """One row was made before the config was changed; the other is asked for now."""
    out = tmp_path / 'out'
    jobs = plan_jobs(TABLES['tiny_job'], TABLES['tiny_job'].rows, [0], out, ROOT)
    folder = jobs[0].training.folder
    write_result(folder.parent, 0, {'accuracy/top1': 40.0})
    write_fingerprint(jobs[0].training.fingerprint, jobs[0].training.settings)
    changed = ('--out', out, '--cfg-options', 'optim_wrapper.optimizer.lr=0.9')
    with pytest.raises(ValueError, match=r'half/seed_0.*optimizer.lr \(0.05 -> 0.9\)'):
        call_tool('reproduce', 'tiny_job', '--methods', 'other', *changed)
    call_tool('reproduce', 'tiny_job', '--collect', *changed)
    assert f"- '{folder}' has other settings: optim_wrapper.optimizer.lr" in capsys.readouterr().out
    call_tool('reproduce', 'tiny_job', '--restart', '--dry-run', '--seeds', '0', *changed)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [f'would be moved aside: {folder}', 'half seed 0: to run']
    assert folder.is_dir()


@pytest.mark.parametrize(
    ('option', 'message'),
    [
        ('optim_wraper.optimizer.lr=0.9', r'correct the name to optim_wrapper\.optimizer\.lr'),
        ('model.train_cfg.augments.ratio=0.9', r'rows of the table tiny_job differ in .*\.ratio;'),
        ('model.train_cfg.augments=x', r'sets model\.train_cfg\.augments, but .*\.ratio;'),
    ],
)
def test_options_without_a_meaning_are_refused(
    config: Path, tmp_path: Path, option: str, message: str
):
    out = tmp_path / 'out'
    # The row that is asked for does not set the ratio itself; another one of the table does.
    arguments = ('tiny_job', '--methods', 'shufflemix', '--out', out)
    for more in ([], ['--dry-run'], ['--restart']):
        with pytest.raises(ValueError, match=message):
            call_tool('reproduce', *arguments, *more, '--cfg-options', option)
    assert not out.exists()


def test_a_run_whose_settings_were_deleted_is_not_joined(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture
):
    out = tmp_path / 'out'
    folder = out / 'tiny_job' / 'half' / 'seed_0'
    write_result(folder.parent, 0, {'accuracy/top1': 40.0})
    message = r'half/seed_0. has no settings.json, .*; put the file back, .*--out, .*--restart'
    with pytest.raises(ValueError, match=message):
        call_tool('reproduce', 'tiny_job', '--out', out)
    call_tool('reproduce', 'tiny_job', '--out', out, '--collect')
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == (f"- '{folder}' has no settings.json, so nothing tells what it was made with")
    call_tool('reproduce', 'tiny_job', '--out', out, '--restart', '--dry-run', '--seeds', '0')
    assert capsys.readouterr().out.splitlines()[0] == f'would be moved aside: {folder}'


def test_what_is_left_to_another_process_is_said(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    monkeypatch.setattr('mmshufflemix.reproduce.run.PATIENCE', 0.1)
    out = tmp_path / 'out'
    (job, _) = plan_jobs(TABLES['tiny_job'], TABLES['tiny_job'].rows, [0], out, ROOT)
    with hold_lock(job.training.lock):
        call_tool('reproduce', 'tiny_job', '--methods', 'shufflemix', '--seeds', '0', '--out', out)
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == '- half seed 0 was left to another process'


def start(config: Path, out: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, '-m', 'tests.test_reproduce.driver', str(config), 'tiny_job']
    length = ['--cfg-options', f'train_cfg.max_epochs={SEVERAL_EPOCHS}']
    return subprocess.Popen(
        [*command, '--out', str(out), '--methods', 'shufflemix', *arguments, *length],
        cwd=ROOT,
        env={**os.environ, 'OMP_NUM_THREADS': '1'},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate(timeout=200)
    assert process.returncode == 0, output
    return output


@pytest.mark.slow
def test_a_killed_study_ends_like_an_undisturbed_one(tmp_path: Path):
    config = write_job(tmp_path)
    finish(start(config, tmp_path / 'whole', '--seeds', '0'))

    killed = start(config, tmp_path / 'cut', '--seeds', '0')
    folder = tmp_path / 'cut' / 'tiny_job' / 'half' / 'seed_0'
    end = time.monotonic() + 120
    # Checkpoints are written whole, so the second one can be resumed from.
    while not (folder / 'epoch_2.pth').exists() and time.monotonic() < end:
        time.sleep(0.005)
    os.kill(killed.pid, signal.SIGKILL)  # not the training: it has to end by itself
    killed.communicate()
    assert not (folder / 'result.json').exists()
    assert not (folder / f'epoch_{SEVERAL_EPOCHS}.pth').exists()

    output = finish(start(config, tmp_path / 'cut', '--seeds', '0'))
    assert 'resumed epoch' in output
    for name in ('table.md', 'table.csv', 'table.json'):
        whole, cut = (tmp_path / out / 'tiny_job' / name for out in ('whole', 'cut'))
        assert cut.read_text() == whole.read_text()
    assert '(1 seed)' in output
    # The measure is coarse on so few pictures; the weights are not.
    weights = [
        torch.load(last, weights_only=True)['state_dict']
        for last in tmp_path.glob(f'*/tiny_job/half/seed_0/epoch_{SEVERAL_EPOCHS}.pth')
    ]
    assert len(weights) == 2
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])


@pytest.mark.slow
def test_noise_through_the_real_tools(tmp_path: Path):
    row = Row('half', 'm', str(write_job(tmp_path)), home='home')
    levels = PAPER_LEVELS['white'], PAPER_LEVELS['salt_pepper']
    keys = [
        'clean',
        *(f'white/{x:g}' for x in levels[0]),
        *(f'salt_pepper/{x:g}' for x in levels[1]),
    ]
    table = Table('noisy', '', tuple(Metric(key, key) for key in keys), (row,), 'noise', noise=True)
    jobs = plan_jobs(table, [row], [0], tmp_path / 'out', ROOT, 1)
    assert run_jobs(jobs, ROOT / 'tools', lambda: None) == []
    text = write_report(table, tmp_path / 'out', 1)
    assert text.count('(1 seed)') == 7
    assert 'not run' not in text
    assert 'shortened to 1 of 2 epochs' in text
    folder = tmp_path / 'out' / 'home_1_epochs' / 'half' / 'seed_0'
    trained = json.loads((folder / 'result.json').read_text())['measures']['accuracy/top1']
    assert f'| half | clean (%) | {trained:.2f} (1 seed) |' in text
