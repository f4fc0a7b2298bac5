"""One of two processes that train with a config of others; writes what it drew for the test."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch.distributed as dist

from mmshufflemix.launch import build_runner
from mmshufflemix.small_images.views import CropStep
from tests.test_small_images.fast_jobs import read_foreign_job


def main(folder: Path) -> None:
    """Train, and keep where pictures were cropped."""
    draw, offsets = CropStep.draw, []

    def record(self: CropStep, *arguments: Any) -> Any:
        drawn = draw(self, *arguments)
        offsets.append(drawn.tolist())
        return drawn

    cfg = read_foreign_job(folder, folder / 'run', launcher='pytorch', randomness__seed=0)
    with patch.object(CropStep, 'draw', record):
        build_runner(cfg).train()
    (folder / f'rank{dist.get_rank()}.json').write_text(json.dumps(offsets))
    dist.destroy_process_group()


if __name__ == '__main__':
    main(Path(sys.argv[1]))
