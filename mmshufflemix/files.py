"""Write files so that a reader never sees half of one."""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = [
    'TEMPORARY_MARK',
    'check_folder',
    'check_writable',
    'new_folder',
    'remove_leftovers',
    'temporary_name',
    'unpacked_size',
    'write_bytes',
    'write_json',
    'write_text',
]

TEMPORARY_MARK = '.unfinished-'

_MOST_BYTES = 150
"""Bytes of a name that its temporary one keeps: file systems take 255 in all."""


def check_writable(path: str | Path) -> None:
    """Check that a file can be written, before the work that it will hold; it is not touched.

    Raises:
        ValueError: If the path is a folder or a device, or its folder is not there and cannot be
            made, or nothing can be written in it.
    """
    path = Path(path).absolute()
    if path.is_dir():
        raise ValueError(f"cannot write to '{path}', which is a folder; give the name of a file")
    _check_replaceable(path)
    _check_takes_files(path.parent, f"cannot write to '{path}'")


def check_folder(path: str | Path, option: str) -> None:
    """Check that a folder is there, or can be made, and takes new files; nothing is left in it.

    Args:
        path: The folder.
        option: What the message names as the way to choose another, for example ``--work-dir``.

    Raises:
        ValueError: If the path is a file or lies below one, or nothing can be written there.
    """
    path = Path(path).absolute()
    start = f"the folder '{path}' cannot be used"
    if os.path.lexists(path) and not path.is_dir():
        raise ValueError(f'{start}, since it is a file; choose another one with {option}')
    _check_takes_files(path, start, f'choose another one with {option}')


def _check_takes_files(folder: Path, start: str, way_out: str = 'give another folder') -> None:
    """Try whether a folder, or the nearest one above it that exists, takes a new file."""
    found = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not found.is_dir():
        raise ValueError(f"{start}, since '{found}' is a file and no folder; {way_out}")
    try:
        # Permission bits say nothing about a superuser, read-only mounts and the like.
        with tempfile.TemporaryFile(dir=found):
            pass
    except OSError as error:
        raise ValueError(f"{start}, since '{found}' takes no new file; {way_out}") from error


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file under a temporary name, flush it to the disk, then give it its name.

    A process that is killed at any moment leaves either the old file or the new one, and at most
    a temporary file beside it (see :func:`remove_leftovers`). The folder is made if missing.

    Raises:
        OSError: If it cannot be written; it names the file, not the temporary one.
        ValueError: If it is a device, a pipe or the like.
    """
    path = Path(path)
    _check_replaceable(path)
    try:
        _write_and_move(path, content)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_text(path: str | Path, content: str) -> None:
    """Write UTF-8 text as :func:`write_bytes` does, with escapes for torn letters."""
    write_bytes(path, content.encode(errors='backslashreplace'))


def write_json(path: str | Path, content: Any) -> None:
    """Write plain Python data as JSON, as :func:`write_bytes` does."""
    write_text(path, json.dumps(content, indent=1, allow_nan=True) + '\n')


def temporary_name(path: str | Path) -> Path:
    """Name a new file beside ``path`` with the mark that :func:`remove_leftovers` looks for."""
    path = Path(path)
    # Process numbers repeat across containers and machines that share a disk.
    name = os.fsdecode(os.fsencode(path.name)[:_MOST_BYTES])
    return path.with_name(f'{name}{TEMPORARY_MARK}{os.getpid()}-{uuid.uuid4().hex[:8]}')


@contextmanager
def new_folder(target: str | Path) -> Iterator[Path]:
    """Give a folder to fill, which becomes ``target`` when the block ends without an exception.

    A process that is killed leaves at most a folder beside it whose name has the temporary mark.

    Raises:
        FileExistsError: If another process was faster.
    """
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = temporary_name(target)
    scratch.mkdir()
    try:
        yield scratch
        try:
            scratch.rename(target)
        except OSError as error:
            if not target.exists():
                raise
            raise FileExistsError(
                f'{target} exists already; name another folder or move it away'
            ) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def remove_leftovers(folder: str | Path) -> None:
    """Delete the temporary files and folders that a killed process left in a folder."""
    for path in Path(folder).glob(f'*{TEMPORARY_MARK}*'):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def unpacked_size(path: str | os.PathLike) -> int:
    """Bytes that a zip file unpacks to, 0 for other files.

    A few kilobytes of a packed file can stand for more than fits into memory.
    """
    if not zipfile.is_zipfile(path):
        return 0
    with zipfile.ZipFile(path) as archive:
        return sum(entry.file_size for entry in archive.infolist())


def _write_and_move(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_name(path)
    try:
        with temporary.open('xb') as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _check_replaceable(path: Path) -> None:
    # A device such as /dev/null, or a pipe, would be replaced by a file of its name.
    if path.exists() and not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
        raise ValueError(f"cannot write to '{path}', which is no plain file; give another name")
