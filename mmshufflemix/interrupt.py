"""Stop a training by Ctrl-C with a sentence on how to go on."""

from __future__ import annotations

import _weakrefset
import signal
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from mmengine import dist
from mmengine.hooks import Hook
from mmengine.runner import Runner

from mmshufflemix.checkpoint import latest_checkpoint

__all__ = ['StopHook', 'stoppable', 'way_on']

_PATIENCE = 1.0
"""Seconds between the signals of two processes of one run, at most."""

# A shell starts what a script puts into the background like this.
_TOLD_TO_GO_ON = signal.getsignal(signal.SIGINT) is signal.SIG_IGN

# Python prints what is raised in them and goes on: they are called when an object is removed, or
# around the start of a process.
_DEAF_FUNCTIONS = {'__del__', '_removeHandlerRef', '_launch'}
_DEAF_MODULES = {weakref.__file__, _weakrefset.__file__}


class StopHook(Hook):
    """Ends a training by Ctrl-C: at once, or after the step where Python would drop the interrupt.

    That is where an object is removed or a process is started, for example the workers of a data
    loader at the ends of an epoch.
    """

    def __init__(self) -> None:
        self.pressed = False

    def press(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal, for ``signal.signal``.

        Raises:
            KeyboardInterrupt: Unless Python would drop it.
        """
        self.pressed = True
        if not _is_deaf(frame):
            raise KeyboardInterrupt

    def _stop(self, runner: Runner, *args: Any, **kwargs: Any) -> None:
        if self.pressed:
            raise KeyboardInterrupt

    after_train_iter = after_val_iter = _stop


def _is_deaf(frame: FrameType | None) -> bool:
    """Tell whether Python would print an error of this place and go on."""
    while frame is not None:
        code = frame.f_code
        if code.co_name in _DEAF_FUNCTIONS or code.co_filename in _DEAF_MODULES:
            return True
        frame = frame.f_back
    return False


@contextmanager
def stoppable(work_dir: str | Path) -> Iterator[StopHook]:
    """Let Ctrl-C in the block end it with a sentence, on the first of several processes.

    A process that was started not to listen to it, such as one in the background of a script, and
    a thread go on.

    Yields:
        A hook for the runner in the block.

    Raises:
        KeyboardInterrupt: With that sentence as its text.
    """
    hook = StopHook()
    here = threading.current_thread() is threading.main_thread() and not _TOLD_TO_GO_ON
    before = signal.signal(signal.SIGINT, hook.press) if here else None
    try:
        yield hook
    except KeyboardInterrupt as stop:
        error: BaseException = stop
        hook.pressed = True
    except Exception as failure:
        error = failure
        if dist.is_distributed():
            # A process fails when another one is gone, which may hear the signal a bit earlier.
            with suppress(KeyboardInterrupt):
                time.sleep(_PATIENCE)
        if not hook.pressed:
            raise
    else:
        return
    finally:
        if here:
            # Impatient users, and launchers of several processes, send the signal again.
            signal.signal(signal.SIGINT, signal.SIG_IGN if hook.pressed else before)
    raise KeyboardInterrupt(way_on(work_dir) if dist.is_main_process() else '') from error


def way_on(work_dir: str | Path) -> str:
    """Name the checkpoint from which a stopped training can go on, and how."""
    newest = latest_checkpoint(work_dir)
    if newest is None:
        return (
            f"stopped before the first checkpoint was written into '{work_dir}', so that the same "
            'command starts from the beginning'
        )
    return (
        f"stopped; the newest checkpoint is '{newest}', and the same command with --resume goes on "
        'from it'
    )
