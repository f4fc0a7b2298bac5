"""Tell the launcher of several processes why one of them fails."""

from __future__ import annotations

import os
import time

from mmshufflemix.files import write_json

__all__ = ['report_failure']


def report_failure(message: str, *, mistake: bool) -> bool:
    """Leave the reason of a failure to tools/launch_processes.py, if that started this process.

    Args:
        message: What went wrong, in one line.
        mistake: Whether it is the user's, so that the message is all there is to say.

    Returns:
        Whether the launcher will print the message, once for all processes: never that of a bug.
    """
    # torchrun names a file for each process.
    path = os.environ.get('TORCHELASTIC_ERROR_FILE')
    if not path or os.environ.get('MMSHUFFLEMIX_LAUNCHER') != '1':
        return False
    try:
        write_json(path, dict(message=message, timestamp=time.time(), mistake=mistake))
    except OSError:  # the launcher is gone, and its folder with it
        return False
    return mistake
