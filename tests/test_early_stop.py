"""Ctrl-C while a tool imports its modules."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mmshufflemix._early_stop import begin_imports, end_imports
from tests.tiny_job import ROOT

STOPPED = 'stopped before anything was done\n'
# Stands for the slow one, and for a module that catches what it does not know.
TORCH = """
import os, signal, time
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(WAIT)
except BaseException:
    if WAIT > 1:
        raise
print('went on')
raise SystemExit(7)
"""
TOOLS = sorted(path.name for path in (ROOT / 'tools').glob('*.py') if 'run_cli' in path.read_text())


def run(tmp_path: Path, script: Path, wait: float = 9, **environment: str) -> tuple[int, str]:
    (tmp_path / 'torch').mkdir()
    (tmp_path / 'torch' / '__init__.py').write_text(TORCH.replace('WAIT', str(wait)))
    kept = {name: value for name, value in os.environ.items() if name not in ('RANK', 'PYTHONPATH')}
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**kept, 'PYTHONPATH': path, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


# Each takes more than half a second.
@pytest.mark.parametrize('tool', TOOLS[::3])
def test_the_tools(tmp_path: Path, tool: str):
    assert run(tmp_path, ROOT / 'tools' / tool, wait=0.1) == (130, STOPPED)


@pytest.mark.parametrize('name', ['RANK', 'SLURM_PROCID'])
def test_the_first_process_speaks(tmp_path: Path, name: str):
    train = ROOT / 'tools' / 'train.py'
    (tmp_path / 'a').mkdir()
    assert run(tmp_path / 'a', train, **{name: '0'}) == (130, STOPPED)
    (tmp_path / 'b').mkdir()
    assert run(tmp_path / 'b', train, **{name: '1'}) == (130, '')


def test_the_launcher(tmp_path: Path):
    assert run(tmp_path, ROOT / 'tools' / 'launch_processes.py') == (130, '')


def test_programs_of_others_keep_their_traceback(tmp_path: Path):
    script = tmp_path / 'tools' / 'mine.py'
    script.parent.mkdir()
    script.write_text('import mmshufflemix')
    code, output = run(tmp_path, script)
    assert code == -signal.SIGINT
    assert 'Traceback' in output
    assert STOPPED not in output


def test_the_tests_are_no_tool():
    begin_imports()
    end_imports()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
