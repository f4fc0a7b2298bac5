"""One of two processes that share images, which stops in the middle of reading to be killed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import torch.distributed as dist

from mmshufflemix.small_images.sharing import read_once
from mmshufflemix.small_images.table import Allocate, ImageTable


def main(folder: Path, rank: int) -> None:
    """Allocate and write images, say so, and wait for the end."""
    store = f'file://{folder / "store"}'
    dist.init_process_group('gloo', init_method=store, rank=rank, world_size=2)

    def read(allocate: Allocate) -> ImageTable:
        images = allocate((64, 3, 16, 16))
        images[:] = 1
        maps = Path('/proc/self/maps').read_text()
        [shared] = [line for line in maps.splitlines() if 'mmshufflemix-' in line]
        (folder / 'part').write_text(shared)
        (folder / 'part').rename(folder / 'reading')
        time.sleep(120)
        raise AssertionError('was not killed')

    read_once(read)


if __name__ == '__main__':
    main(Path(sys.argv[1]), int(sys.argv[2]))
