"""Write files so that a reader never sees half of one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

__all__ = ['TEMPORARY_MARK', 'remove_leftovers', 'write_bytes', 'write_json', 'write_text']

TEMPORARY_MARK = '.unfinished-'


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file under a temporary name, flush it to the disk, then give it its name.

    A process that is killed at any moment leaves either the old file or the new one, and at most
    a temporary file beside it (see :func:`remove_leftovers`). The folder is made if missing.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f'{path.name}{TEMPORARY_MARK}{os.getpid()}')
    try:
        with temporary.open('wb') as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | Path, content: str) -> None:
    """Write UTF-8 text as :func:`write_bytes` does."""
    write_bytes(path, content.encode())


def write_json(path: str | Path, content: Any) -> None:
    """Write plain Python data as JSON, as :func:`write_bytes` does."""
    write_text(path, json.dumps(content, indent=1, allow_nan=True) + '\n')


def remove_leftovers(folder: str | Path) -> None:
    """Delete the temporary files that a killed process left in a folder."""
    for path in Path(folder).glob(f'*{TEMPORARY_MARK}*'):
        path.unlink(missing_ok=True)
