"""Lock, starting point and output of single runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from mmshufflemix.reproduce.jobs import starting_point
from mmshufflemix.reproduce.lock import hold_lock
from mmshufflemix.reproduce.process import run_shown


def test_a_lock_ends_with_its_last_holder(tmp_path: Path):
    path = tmp_path / 'x.lock'
    with hold_lock(path) as descriptor, hold_lock(path) as second:
        assert second is None
        child = subprocess.Popen(
            [sys.executable, '-c', 'import sys; sys.stdin.read()'],
            stdin=subprocess.PIPE,
            pass_fds=[descriptor],
        )
    with hold_lock(path) as while_child_lives:
        assert while_child_lives is None
    child.kill()
    child.communicate()
    with hold_lock(path, 5.0) as afterwards:
        assert afterwards is not None


def test_where_a_training_goes_on(tmp_path: Path):
    def checkpoint(epoch: int) -> Path:
        path = tmp_path / f'epoch_{epoch}.pth'
        with zipfile.ZipFile(path, 'w') as archive:
            archive.writestr('x', 'x')
        (tmp_path / 'last_checkpoint').write_text(str(path))
        return path

    assert starting_point(tmp_path, 5) is None
    third = checkpoint(3)
    assert starting_point(tmp_path, 5) == third
    fourth, fifth = checkpoint(4), checkpoint(5)
    # The last validation is missing, so the last epoch has to be run again.
    assert starting_point(tmp_path, 5) == fourth
    assert starting_point(tmp_path, 6) == fifth
    fourth.write_text('torn')
    assert starting_point(tmp_path, 5) == third
    third.unlink()
    assert starting_point(tmp_path, 5) is None


@pytest.mark.skipif(sys.platform != 'linux', reason='needs prctl of Linux')
def test_a_program_ends_with_a_killed_parent(tmp_path: Path):
    lock = tmp_path / 'x.lock'
    script = f"""
import sys
from pathlib import Path
from mmshufflemix.reproduce.lock import hold_lock
from mmshufflemix.reproduce.process import run_shown
with hold_lock(Path({str(lock)!r})) as descriptor:
    sleeper = [sys.executable, '-c', 'import time; print("up", flush=True); time.sleep(60)']
    run_shown(sleeper, Path({str(tmp_path / 'log')!r}), [descriptor])
"""
    parent = subprocess.Popen([sys.executable, '-c', script], stdout=subprocess.DEVNULL)
    end = time.monotonic() + 60
    log = tmp_path / 'log'
    while not (log.exists() and log.read_text()) and time.monotonic() < end:
        time.sleep(0.05)
    with hold_lock(lock) as while_it_runs:
        assert while_it_runs is None
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    with hold_lock(lock, 5.0) as afterwards:
        assert afterwards is not None


def test_output_is_shown_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture):
    log = tmp_path / 'deep' / 'output.txt'
    script = "import sys; print('one'); print('two', file=sys.stderr, flush=True)"
    run_shown([sys.executable, '-u', '-c', script], log)
    assert log.read_text() == capsys.readouterr().out == 'one\ntwo\n'
    with pytest.raises(RuntimeError, match=r'exit code -9 \(it printed nothing\)'):
        run_shown([sys.executable, '-c', 'import os; os.kill(os.getpid(), 9)'], log)
