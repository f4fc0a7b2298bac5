"""Decode all pictures of a data set, each once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from rich.console import Console
from rich.progress import Progress

from mmshufflemix.dataset_check.findings import Fault
from mmshufflemix.dataset_check.pictures import Picture, inspect_picture, picture_oddities
from mmshufflemix.dataset_check.rows import Split, source_key

__all__ = ['picture_faults', 'scan_pictures']


def scan_pictures(splits: Sequence[Split], workers: int = 1) -> dict[str, Picture]:
    """Inspect the picture of every row, with a progress bar in a terminal.

    Args:
        splits: Whose pictures.
        workers: Threads, at least 1; decoding runs outside of Python's lock.

    Returns:
        The pictures by :func:`source_key`.

    Raises:
        ValueError: If ``workers`` is below 1.
    """
    if workers < 1:
        raise ValueError(f'workers must be at least 1, got {workers}')
    sources: dict[str, str | np.ndarray | None] = {}
    for split in splits:
        for index, row in enumerate(split.rows):
            sources.setdefault(source_key(split.name, index, row.source), row.source)
    console = Console(stderr=True)
    pool = ThreadPoolExecutor(workers)
    try:
        with (
            warnings.catch_warnings(),
            Progress(console=console, disable=not console.is_terminal) as bar,
        ):
            warnings.simplefilter('ignore')  # Pillow's, about odd files
            found = pool.map(inspect_picture, sources.values())
            tracked = bar.track(found, total=len(sources), description='pictures')
            return dict(zip(sources, tracked, strict=True))
    finally:
        pool.shutdown(cancel_futures=True)


def picture_faults(split: Split, pictures: dict[str, Picture]) -> Iterator[Fault]:
    """List the pictures of a split that are missing, broken or odd, each once."""
    seen = set()
    for index, row in enumerate(split.rows):
        key = source_key(split.name, index, row.source)
        if key in seen or row.source is None:
            # A name that leads out of the folder was noted when it was read.
            continue
        seen.add(key)
        picture = pictures[key]
        if picture.missing:
            yield Fault('missing', split.name, f'{row.name} ({picture.fault})')
        elif picture.fault:
            yield Fault('unreadable', split.name, f'{row.name} ({picture.fault})')
        else:
            for kind, detail in picture_oddities(picture):
                yield Fault(kind, split.name, f'{row.name} ({detail})')
