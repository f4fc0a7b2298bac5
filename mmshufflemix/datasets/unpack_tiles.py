"""CIFAR-100 from pictures of tiles to one PNG file an image, one folder a class."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from PIL import Image

from mmshufflemix.datasets.cifar_tiles import SPLITS, read_tiles, tile_files
from mmshufflemix.files import check_writable, new_folder

__all__ = ['unpack_tiles']

Job = tuple[str, str, Path]
"""Split, class name and file of one picture of tiles."""


def unpack_tiles(
    source: str | Path,
    target: str | Path,
    progress: Callable[[list[Job]], Iterable[Job]] = iter,
) -> int:
    """Write ``<target>/<split>/<class>/<index>.png`` for all tiles, without loss.

    MMPretrain's ``CustomDataset`` reads the folders of the splits. They are built beside
    ``target``, which appears only when it is complete.

    Args:
        source: Folder of a ``CIFARTiles`` dataset.
        target: Folder to create.
        progress: Wraps the loop over the pictures of tiles, such as rich's ``track``.

    Returns:
        The number of images.

    Raises:
        FileExistsError: If ``target`` exists.
        FileNotFoundError: If a split has no pictures.
        ValueError: If a picture is not made of tiles.
    """
    target = Path(target)
    if target.exists():
        raise FileExistsError(f'{target} exists already; name another folder or move it away')
    jobs = [
        (split, name, path) for split in SPLITS for name, path in tile_files(source, split).items()
    ]
    check_writable(target)
    count = 0
    with new_folder(target) as scratch:
        for split, name, path in progress(jobs):
            folder = scratch / split / name
            folder.mkdir(parents=True)
            for index, tile in enumerate(read_tiles(path)):
                Image.fromarray(tile).save(folder / f'{index:04d}.png')
                count += 1
    return count
