"""One copy of the images for all processes of a machine."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from mmengine import dist
from numpy.lib.format import open_memmap

from mmshufflemix.small_images.table import Allocate, ImageTable, in_memory

__all__ = ['read_once']

Read = Callable[[Allocate], ImageTable]


def read_once(read: Read) -> ImageTable:
    """Read a table on one process of each machine, and map its images in the others.

    All processes of a distributed run have to call this together; a process alone reads into its
    own memory. The file that they share lies in the folder for temporary files (``TMPDIR``) and
    is unlinked as soon as all have mapped it: the system drops it with the last process, however
    that ends.

    Args:
        read: Reads the table; it gets the function that allocates the images.

    Raises:
        RuntimeError: On every process, if reading failed on one of another machine, or on another
            process of this one. The process that failed raises its own error.
    """
    if dist.get_world_size() == 1:
        return read(in_memory)
    machines = dist.all_gather_object(_machine())
    leader = machines.index(_machine())
    leads = leader == dist.get_rank()
    path, table, failure = None, None, None
    if leads:
        try:
            path, table = _read_to_file(read)
        except Exception as error:
            failure = error
    reports = dist.all_gather_object((path, table, failure and str(failure)))
    if failure is not None:
        raise failure
    for rank, (_, _, message) in enumerate(reports):
        if message:
            if path:
                Path(path).unlink(missing_ok=True)
            raise RuntimeError(f'process {rank} could not read the images: {message}')
    shared_path, shared_table, _ = reports[leader]
    images = np.load(shared_path, mmap_mode='c', allow_pickle=False)
    dist.barrier()
    if leads:
        Path(shared_path).unlink(missing_ok=True)
    return shared_table.with_images(images)


def _read_to_file(read: Read) -> tuple[str, ImageTable]:
    """Read a table with its images in a file; what is returned has none."""
    handle, path = tempfile.mkstemp(prefix='mmshufflemix-', suffix='.npy')
    os.close(handle)
    try:
        table = read(partial(_map_file, path))
        table.images.flush()  # type: ignore[attr-defined]
    except BaseException:
        Path(path).unlink(missing_ok=True)
        raise
    return path, table.with_images(np.empty(0, np.uint8))


def _map_file(path: str, shape: tuple[int, ...]) -> np.ndarray:
    return open_memmap(path, mode='w+', dtype=np.uint8, shape=shape)


def _machine() -> str:
    """A name that the processes of one machine share, and those of others do not."""
    boot = Path('/proc/sys/kernel/random/boot_id')
    return f'{platform.node()} {boot.read_text().strip() if boot.exists() else ""}'
