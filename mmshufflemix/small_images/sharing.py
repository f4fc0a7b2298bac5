"""One copy of the images for all processes of a machine."""

from __future__ import annotations

import os
import platform
import tempfile
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from mmengine import dist

from mmshufflemix.small_images.table import Allocate, ImageTable, in_memory

__all__ = ['read_once']

Read = Callable[[Allocate], ImageTable]


def read_once(read: Read) -> ImageTable:
    """Read a table on one process of each machine, and map its images in the others.

    All processes of a distributed run have to call this together; a process alone reads into its
    own memory. The file that they share lies in the folder for temporary files (``TMPDIR``). It
    loses its name before anything is read into it: the system drops it with the last process,
    however and whenever that ends.

    Args:
        read: Reads the table; it gets the function that allocates the images.

    Raises:
        RuntimeError: On every process, if reading failed on one of another machine, or on another
            process of this one. The process that failed raises its own error.
    """
    if dist.get_world_size() == 1:
        return read(in_memory)
    leader = dist.all_gather_object(_machine()).index(_machine())
    leads = leader == dist.get_rank()
    with _open_nameless(leader) as file:
        tables = _on_each(partial(_read_into, file, read) if leads else None)
        table, shape = tables[leader]
        return table.with_images(np.memmap(file, np.uint8, 'c', shape=shape))


def _open_nameless(leader: int) -> BinaryIO:
    """Open a new empty file on all processes of a machine, and take its name away.

    Args:
        leader: The process that makes the file.
    """
    path = Path(_on_each(_new_name)[leader])
    leads = leader == dist.get_rank()
    try:
        _on_each(partial(path.touch, mode=0o600, exist_ok=False) if leads else None)
        handle = _on_each(partial(os.open, path, os.O_RDWR))[dist.get_rank()]
    finally:
        if leads:
            path.unlink(missing_ok=True)
    return os.fdopen(handle, 'r+b')


def _on_each(do: Callable[[], Any] | None) -> list[Any]:
    """Do something on every process, or nothing, and gather the results, by rank.

    Raises:
        RuntimeError: If another process failed; one that failed raises its own error.
    """
    result, failure = None, None
    try:
        result = do() if do else None
    except Exception as error:
        failure = error
    reports = dist.all_gather_object((result, failure and (str(failure) or repr(failure))))
    if failure is not None:
        raise failure
    for rank, (_, message) in enumerate(reports):
        if message:
            raise RuntimeError(f'process {rank} could not read the images: {message}')
    return [result for result, _ in reports]


def _read_into(file: BinaryIO, read: Read) -> tuple[ImageTable, tuple[int, ...]]:
    """Read a table with its images in a file; what is returned has none, but their shape."""
    table = read(lambda shape: np.memmap(file, np.uint8, 'w+', shape=shape))
    table.images.flush()  # type: ignore[attr-defined]
    return table.with_images(np.empty(0, np.uint8)), table.images.shape


def _new_name() -> str:
    return os.path.join(tempfile.gettempdir(), f'mmshufflemix-{uuid.uuid4().hex}')


def _machine() -> str:
    """A name that the processes of one machine share, and those of others do not."""
    boot = Path('/proc/sys/kernel/random/boot_id')
    return f'{platform.node()} {boot.read_text().strip() if boot.exists() else ""}'
