"""Write files so that a reader never sees half of one."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

__all__ = [
    'TEMPORARY_MARK',
    'check_writable',
    'remove_leftovers',
    'write_bytes',
    'write_json',
    'write_text',
]

TEMPORARY_MARK = '.unfinished-'


def check_writable(path: str | Path) -> None:
    """Check that a file can be written, before the work that it will hold; it is not touched.

    Raises:
        ValueError: If the path is a folder, or its folder is not there and cannot be made, or
            nothing can be written in it.
    """
    path = Path(path).absolute()
    if path.is_dir():
        raise ValueError(f"cannot write to '{path}', which is a folder; give the name of a file")
    folder = next(parent for parent in path.parents if parent.exists())
    if not folder.is_dir():
        raise ValueError(f"cannot write to '{path}', since '{folder}' is a file and no folder")
    try:
        # Permission bits say nothing about a superuser, read-only mounts and the like.
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ValueError(
            f"cannot write to '{path}', since '{folder}' takes no new file; give another folder"
        ) from error


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file under a temporary name, flush it to the disk, then give it its name.

    A process that is killed at any moment leaves either the old file or the new one, and at most
    a temporary file beside it (see :func:`remove_leftovers`). The folder is made if missing.

    Raises:
        OSError: If it cannot be written; it names the file, not the temporary one.
    """
    path = Path(path)
    try:
        _write_and_move(path, content)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


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


def _write_and_move(path: Path, content: bytes) -> None:
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
