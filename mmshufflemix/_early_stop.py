"""End a tool by Ctrl-C in one line while it still imports its modules, which takes seconds."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

from mmshufflemix.first_process import is_first_process

__all__ = ['begin_imports', 'end_imports']


def begin_imports() -> None:
    """Let Ctrl-C end the process at once if it is one of the tools of this project."""
    if (
        _is_tool(getattr(sys.modules['__main__'], '__file__', None))
        # A worker of a data loader that imports the tool again never gets to its end.
        and multiprocessing.parent_process() is None
        and threading.current_thread() is threading.main_thread()
        # A process in the background may have been told not to listen.
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ):
        signal.signal(signal.SIGINT, _stop)


def end_imports() -> None:
    """Let Ctrl-C raise a KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _stop:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_tool(file: str | None) -> bool:
    folder = Path(file).absolute().parent if file else None
    return folder is not None and folder.name == 'tools' and (folder.parent / __package__).is_dir()


def _stop(number: int, frame: FrameType | None) -> None:
    # Nothing has been done that has to be undone, and some modules catch all exceptions.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if is_first_process('pytorch') and is_first_process('slurm'):
        print('stopped before anything was done', file=sys.stderr, flush=True)
    os._exit(130)
