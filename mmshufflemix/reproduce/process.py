"""Run a program, show what it prints and keep it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

__all__ = ['end_on_signals', 'run_shown']

_PR_SET_PDEATHSIG = 1  # of Linux's <sys/prctl.h>


def end_on_signals() -> None:
    """Let SIGTERM and SIGHUP end this process like Ctrl-C, with the program that it runs."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)


def run_shown(command: Sequence[str], log: Path, keep_open: Sequence[int] = ()) -> None:
    """Run a program to its end, with what it prints on the screen and added to a file.

    On Linux the program is killed when this process ends, also by ``kill -9``: a training without
    its parent would go on unseen and keep its lock.

    Args:
        command: The program and its arguments.
        log: File that both of its streams are added to.
        keep_open: Descriptors that the program inherits.

    Raises:
        RuntimeError: If it fails, with its last ``error:`` line, or its last line.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    reason = 'it printed nothing'
    with (
        log.open('a') as file,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors='replace',
            pass_fds=tuple(keep_open),
            preexec_fn=_end_with_parent(),
            # Else prints come late and out of order.
            env={**os.environ, 'PYTHONUNBUFFERED': '1'},
        ) as process,
    ):
        try:
            for line in process.stdout or ():
                sys.stdout.write(line)
                sys.stdout.flush()
                file.write(line)
                file.flush()
                reason = _better_reason(reason, line.strip())
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise RuntimeError(f'exit code {process.returncode} ({reason}); all of it is in {log}')


def _end_with_parent() -> Callable[[], None] | None:
    """Return what a new process has to call first, None where the system cannot do it."""
    if sys.platform != 'linux':
        return None
    # Looked up before the fork, after which little may be done.
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return ask


def _better_reason(old: str, line: str) -> str:
    if line.startswith('error: '):
        return line
    return line if line and not old.startswith('error: ') else old
