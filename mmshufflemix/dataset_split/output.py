"""Write the files of a split so that they appear together."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mmshufflemix.files import TEMPORARY_MARK, check_writable, write_text
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


def write_together(folder: str | Path, contents: Mapping[str, Any], old: list[Path]) -> None:
    """Write JSON files under temporary names, delete old files of other names, then move all.

    A process killed while writing leaves the old files; only between the moves, which take no
    time, could old and new ones be mixed.

    Args:
        folder: Made if missing.
        contents: Plain data by file name.
        old: Files of an older split, see :func:`check_free`.

    Raises:
        OSError: If a file cannot be written.
    """
    folder = Path(folder)
    temporary = {name: folder / f'{name}{TEMPORARY_MARK}{os.getpid()}' for name in contents}
    try:
        for name, content in contents.items():
            write_text(temporary[name], json.dumps(content, indent=1) + '\n')
        for path in old:
            if path.name not in contents:
                path.unlink(missing_ok=True)
        for name, path in temporary.items():
            os.replace(path, folder / name)
    finally:
        for path in temporary.values():
            path.unlink(missing_ok=True)
