"""Write the files of a split so that they appear together."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mmshufflemix.files import check_writable, temporary_name, write_text
from mmshufflemix.text import some

__all__ = ['check_free', 'write_together']

_PATTERNS = ('train.json', 'val.json', 'test.json', 'fold*_train.json', 'fold*_val.json')


def check_free(folder: str | Path, force: bool) -> list[Path]:
    """Look for the files of an older split, which would overlap with those of a new one.

    Args:
        folder: Where a split will be written.
        force: Whether the old files may be replaced.

    Returns:
        Those files.

    Raises:
        FileExistsError: If there are any, unless ``force``.
        ValueError: If the folder cannot be written to.
    """
    folder = Path(folder)
    check_writable(folder / 'train.json')
    old = sorted(path for pattern in _PATTERNS for path in folder.glob(pattern))
    if old and not force:
        raise FileExistsError(
            f"'{folder}' holds a split already ({some((path.name for path in old), 3)}), and what "
            'was trained on it would meet other test images; name another folder, or replace the '
            'split by --force'
        )
    return old


def write_together(folder: str | Path, contents: Mapping[str, Any], force: bool) -> None:
    """Write JSON files under temporary names, delete all files of an older split, then move them.

    Parts of two splits never lie side by side: a process killed while writing leaves the old
    files, one killed between the moves, which take no time, leaves some of the new ones only, and
    of two processes the later one waits.

    Args:
        folder: Made if missing.
        contents: Plain data by file name.
        force: Whether the files of an older split may be replaced.

    Raises:
        FileExistsError: If there are such files, unless ``force``.
        OSError: If a file cannot be written.
    """
    folder = Path(folder)
    temporary = {name: temporary_name(folder / name) for name in contents}
    try:
        for name, content in contents.items():
            write_text(temporary[name], json.dumps(content, indent=1) + '\n')
        with _alone(folder):
            # Once more, since another process may have written meanwhile.
            for path in check_free(folder, force):
                path.unlink()
            for name, path in temporary.items():
                os.replace(path, folder / name)
    finally:
        for path in temporary.values():
            path.unlink(missing_ok=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process is in such a block for this folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
