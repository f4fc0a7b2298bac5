"""Ctrl-C during a training."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from mmshufflemix.cli import run_cli
from mmshufflemix.interrupt import stoppable, way_on
from tests.tiny_job import ROOT, write_job

HANDLER = signal.default_int_handler


@pytest.fixture(autouse=True)
def _handler(monkeypatch: pytest.MonkeyPatch):
    """Listen to Ctrl-C as at a terminal, also where the tests run in the background."""
    monkeypatch.setattr('mmshufflemix.interrupt._TOLD_TO_GO_ON', False)
    before = signal.signal(signal.SIGINT, HANDLER)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_way_on(tmp_path: Path) -> None:
    assert 'before the first checkpoint' in way_on(tmp_path)
    assert '--resume' not in way_on(tmp_path)
    torch.save({}, tmp_path / 'epoch_3.pth')
    (tmp_path / 'epoch_4.pth').write_bytes(b'half of on')
    assert f"'{tmp_path / 'epoch_3.pth'}', and the same command with --resume" in way_on(tmp_path)


def test_the_sentence_is_printed_and_the_code_is_that_of_ctrl_c(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('mmshufflemix.cli.use_safe_loading', lambda: None)

    def main() -> None:
        with stoppable(tmp_path):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)

    with pytest.raises(SystemExit) as ended:
        run_cli(main)
    assert ended.value.code == 130
    assert capsys.readouterr().err == f'{way_on(tmp_path)}\n'
    # A second Ctrl-C finds nothing to break.
    os.kill(os.getpid(), signal.SIGINT)


def test_only_the_first_process_speaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('mmshufflemix.interrupt.dist.is_main_process', lambda: False)
    with pytest.raises(KeyboardInterrupt) as stopped, stoppable(tmp_path):
        raise KeyboardInterrupt
    assert not str(stopped.value)


class Deaf:
    """Python only prints what is raised when it is removed."""

    def __del__(self) -> None:
        press()


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    # Python calls handlers between two of its own instructions.
    time.sleep(0)


def remove_an_object() -> None:
    deaf = Deaf()
    del deaf


def call_a_weak_reference() -> None:
    thing = threading.Event()
    weakref.finalize(thing, press)
    del thing


def start_a_process() -> None:
    waiting = [press]
    # It cannot be taken back, but does nothing a second time.
    os.register_at_fork(after_in_parent=lambda: waiting and waiting.pop()())
    process = multiprocessing.get_context('fork').Process(target=len, args=('',))
    process.start()
    process.join()
    assert process.exitcode == 0


@pytest.mark.filterwarnings('error::pytest.PytestUnraisableExceptionWarning')
@pytest.mark.parametrize('deaf_place', [remove_an_object, call_a_weak_reference, start_a_process])
def test_a_signal_that_python_would_drop_ends_the_next_step(
    tmp_path: Path, deaf_place: Callable[[], None]
) -> None:
    def run() -> None:
        with stoppable(tmp_path) as hook:
            hook.after_train_iter(None)
            deaf_place()
            assert hook.pressed
            hook.after_train_iter(None, batch_idx=0, data_batch=None, outputs=None)

    with pytest.raises(KeyboardInterrupt, match='stopped before'):
        run()


def test_a_process_fails_because_another_has_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signal may come after the failure that it causes in the other process."""
    monkeypatch.setattr('mmshufflemix.interrupt.dist.is_distributed', lambda: True)

    def fail(signal_after: float | None) -> None:
        with stoppable(tmp_path):
            if signal_after is not None:
                threading.Timer(signal_after, os.kill, (os.getpid(), signal.SIGINT)).start()
            raise RuntimeError('connection closed by peer')

    with pytest.raises(KeyboardInterrupt, match='stopped before'):
        fail(0.2)
    monkeypatch.setattr('mmshufflemix.interrupt._PATIENCE', 0)
    with pytest.raises(RuntimeError, match='closed by peer'):
        fail(None)


def test_the_handler_is_given_back(tmp_path: Path) -> None:
    with stoppable(tmp_path):
        assert signal.getsignal(signal.SIGINT) is not HANDLER
    assert signal.getsignal(signal.SIGINT) is HANDLER
    with pytest.raises(ValueError, match='x'), stoppable(tmp_path):
        raise ValueError('x')
    assert signal.getsignal(signal.SIGINT) is HANDLER


def test_a_process_in_the_background_of_a_script_goes_on(tmp_path: Path) -> None:
    script = tmp_path / 'script.py'
    script.write_text(
        'import os, signal\n'
        'from mmshufflemix.interrupt import stoppable\n'
        "with stoppable('.'):\n"
        '    os.kill(os.getpid(), signal.SIGINT)\n'
        "print('went on')\n"
    )
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60)
    assert done.stdout.endswith('went on\n')


def stop(command: list[str], folder: Path) -> tuple[int, str]:
    """Send Ctrl-C to all processes of a command once it trains the second epoch."""
    log = folder / 'output.txt'
    with log.open('w') as file:
        process = subprocess.Popen(
            command,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, 'OMP_NUM_THREADS': '1', 'PYTHON': sys.executable},
        )
    try:
        limit = time.monotonic() + 120
        while not list((folder / 'run').glob('epoch_*.pth')):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < limit
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        return process.wait(60), log.read_text()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize('processes', [1, 2])
def test_a_training_is_stopped(tmp_path: Path, processes: int) -> None:
    config = write_job(tmp_path)
    start = [sys.executable, str(ROOT / 'tools' / 'train.py'), str(config)]
    if processes > 1:
        start = ['bash', str(ROOT / 'tools' / 'dist_train.sh'), str(config), str(processes)]
    options = ['--work-dir', str(tmp_path / 'run'), '--cfg-options', 'train_cfg.max_epochs=999']
    code, output = stop([*start, *options, 'train_dataloader.num_workers=1'], tmp_path)
    assert code == 130
    assert output.count('stopped; the newest checkpoint is ') == 1
    assert 'with --resume goes on' in output
    assert 'Traceback' not in output, output
