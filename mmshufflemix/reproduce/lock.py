"""A lock that two processes, on one machine or on a shared disk, cannot both have."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ['hold_lock']


@contextmanager
def hold_lock(path: Path, patience: float = 0.0) -> Iterator[int | None]:
    """Take the lock of a file, made if missing, for the time of a ``with`` block.

    The kernel frees it when the last process that has the file open ends, however it ends. Started
    programs that inherit the descriptor keep it: a training that outlives its parent stays locked.

    Args:
        path: The file; it stays.
        patience: Seconds to wait for another process.

    Yields:
        The file descriptor, or None if another process has the lock.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        yield descriptor if _take(descriptor, patience) else None
    finally:
        os.close(descriptor)


def _take(descriptor: int, patience: float) -> bool:
    end = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(0.2)
