"""tools/gpu_check.sh with a stand-in for Python, so that nothing has to be imported."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.tiny_job import ROOT

SCRIPT = ROOT / 'tools' / 'gpu_check.sh'


def stand_in(folder: Path, module: str) -> dict[str, str]:
    """Write a Python that has a GPU, and whose ``python -m`` runs other shell commands."""
    program = folder / 'python'
    program.write_text(f'#!/bin/bash\n[ "$1" = -m ] || exit 0\n{module}\n')
    program.chmod(0o755)
    return {'PYTHON': str(program), 'PATH': '/usr/bin:/bin', 'TMPDIR': str(folder)}


def check(*options: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ['bash', SCRIPT, *options],
        capture_output=True,
        text=True,
        env={'PATH': '/usr/bin:/bin', **env},
        timeout=120,
    )


def rows(folder: Path) -> list[str]:
    """Read the summary, without seconds."""
    lines = (folder / 'summary.txt').read_text().splitlines()
    return [re.sub(r' +\d+ s', '', ' '.join(line.split())) for line in lines]


def live_processes(session: int) -> list[str]:
    listed = subprocess.run(['ps', '-s', str(session), '-o', 'stat=,args='], capture_output=True)
    return [line for line in listed.stdout.decode().splitlines() if not line.startswith('Z')]


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--minutes', '0'], "--minutes must be a whole number from 1 to 9999, got '0'"),
        (['--minutes', '1' + 22 * '0'], '--minutes must be a whole number from 1 to 9999'),
        (['--epochs', '-5'], "--epochs must be a whole number from 1 to 9999, got '-5'"),
        (['--steps', 'train fly'], "unknown step 'fly'"),
        (['--steps', ' '], '--steps names no step'),
        (['--fast'], "unknown option '--fast'"),
        (['--data'], '--data needs a value'),
        (['--wheels', '/nowhere'], "no wheel in '/nowhere'"),
        (['--data', '/nowhere'], "'/nowhere' has no train and test"),
        (['--out', '/dev/null'], "cannot write to '/dev/null'"),
    ],
)
def test_mistakes_at_the_script(tmp_path: Path, options: list[str], message: str):
    done = check(*options, **stand_in(tmp_path, 'true'))
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert message in line


@pytest.mark.parametrize(
    ('env', 'message'),
    [
        ({'PYTHON': sys.executable}, 'sees no CUDA device; rehearse on the CPU by DEVICE=cpu'),
        ({'PYTHON': 'false'}, "'false' cannot import torch"),
        ({'DEVICE': 'cpu'}, 'DEVICE=cpu is for a rehearsal; add --rehearse'),
        ({'DEVICE': 'meta'}, "DEVICE must be cuda or cpu, got 'meta'"),
    ],
)
def test_without_a_device_nothing_starts(tmp_path: Path, env: dict[str, str], message: str):
    (tmp_path / 'summary.txt').write_text('of an earlier run')
    done = check('--out', tmp_path, CUDA_VISIBLE_DEVICES='', **env)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert message in line
    assert (tmp_path / 'summary.txt').read_text() == 'of an earlier run'


def test_a_failed_step_does_not_end_the_script(tmp_path: Path):
    env = stand_in(tmp_path, 'exit 1')
    done = check('--out', tmp_path, '--steps', 'tests inductor train', **env)
    assert done.returncode == 1
    assert done.stdout == (tmp_path / 'summary.txt').read_text()
    assert rows(tmp_path) == [
        'machine ok',
        'tests failed (exit code 1, see tests.log)',
        'inductor failed (exit code 1, see tests.log)',
        'train not run: no --data',
        'total 2 failed',
    ]


@pytest.mark.parametrize(
    ('body', 'state'),
    [
        ('def test_a(): pass\ndef test_b(): pytest.skip()', 'ok'),
        ('def test_a(): pytest.skip()', 'failed (no test ran, see tests.log)'),
        ('', 'failed (no test ran, see tests.log)'),
        ('def test_a(): pass\ndef test_b(): 1 / 0', 'failed (exit code 1, see tests.log)'),
    ],
)
def test_skipped_tests_do_not_count(tmp_path: Path, body: str, state: str):
    file = tmp_path / 'test_skipping.py'
    file.write_text(f'import pytest\n{body}\n')
    env = stand_in(tmp_path, f'exec {sys.executable} -m pytest -q -p no:cacheprovider {file}')
    done = check('--out', tmp_path, '--steps', 'tests', **env)
    assert done.returncode == (state != 'ok')
    assert rows(tmp_path)[1] == f'tests {state}'


def test_what_a_step_leaves_running_is_ended(tmp_path: Path):
    env = stand_in(tmp_path, 'sleep 500 & echo $! >$TMPDIR/../child; echo 1 passed')
    assert check('--out', tmp_path, '--steps', 'tests', **env).returncode == 0
    child = Path('/proc', (tmp_path / 'child').read_text().strip(), 'stat')
    deadline = time.monotonic() + 10
    while child.exists() and ' Z ' not in child.read_text() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not child.exists() or ' Z ' in child.read_text()


@pytest.mark.parametrize(('name', 'code'), [('INT', 130), ('TERM', 143), ('HUP', 129)])
def test_a_signal_ends_the_running_step(tmp_path: Path, name: str, code: int):
    out = tmp_path / 'out'
    stubborn = "(trap '' TERM; sleep 500; sleep 500) &"
    leftover = f'touch {out}/benchmark.json.unfinished-1-a; mkdir $TMPDIR/left'
    env = stand_in(tmp_path, f'{stubborn} {leftover}; touch {tmp_path}/started; sleep 500')
    process = subprocess.Popen(
        ['bash', SCRIPT, '--out', out, '--steps', 'tests'],
        env=env,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Whatever this test itself runs under, such as nohup.
        preexec_fn=lambda: signal.signal(getattr(signal, f'SIG{name}'), signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / 'started').exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(live_processes(process.pid)) > 3
    if name == 'INT':
        # As a terminal does, which reaches the foreground only.
        os.killpg(process.pid, signal.SIGINT)
    else:
        os.kill(process.pid, getattr(signal, f'SIG{name}'))
    stderr = process.communicate(timeout=20)[1].decode()
    assert process.returncode == code
    assert stderr == f'stopped by SIG{name}: the step that was running has no result\n'
    while live_processes(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert live_processes(process.pid) == []
    assert rows(out) == ['machine ok', stderr.strip()]
    assert sorted(path.name for path in out.iterdir()) == [
        'machine.txt',
        'summary.txt',
        'tests.log',
    ]
    # The script's own temporary folder is gone, too.
    assert sorted(path.name for path in tmp_path.iterdir()) == ['out', 'python', 'started']
