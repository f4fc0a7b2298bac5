"""One of two processes that train together; writes what it saw to a file for the test."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import torch.distributed as dist
from mmengine.model import MMDistributedDataParallel
from torch import nn

from tests.integration.recording import StepLog, train
from tests.integration.settings import AUGMENTS
from tests.integration.tiny import job

OPTIONS: dict[str, dict[str, Any]] = {
    **{name: {} for name in AUGMENTS},
    'same draws': dict(randomness=dict(seed=3)),
}


def run(name: str, folder: Path) -> dict[str, Any]:
    """Train one epoch of six steps with two steps to an update."""
    common = dict(
        launcher='pytorch',
        model_wrapper_cfg=dict(device_ids=None, find_unused_parameters=False),
        optim_wrapper=dict(optimizer=dict(type='SGD', lr=0.05), accumulative_counts=2),
        randomness=dict(seed=3, diff_rank_seed=True),
    )
    cfg = job(folder, AUGMENTS.get(name, AUGMENTS['ShuffleMix']), 1, **common | OPTIONS[name])
    cfg.train_dataloader.batch_size = 2
    runner, log = train(cfg)
    assert isinstance(runner.model, MMDistributedDataParallel)
    return summary(runner.model.module, log)


def summary(model: nn.Module, log: StepLog) -> dict[str, Any]:
    """What a rank must share with the other, and what it need not."""
    weights = b''.join(p.detach().numpy().tobytes() for p in model.parameters())
    return dict(
        weights=hashlib.sha256(weights).hexdigest(),
        mixed=[mixed for _, mixed in log.counts()],
        sites=[plan.site.name for plan in log.plans],
        partners=[plan.perm.tolist() for plan in log.plans],
        noise_seeds=[plan.noise_seed for plan in log.plans],
    )


def main(folder: Path) -> None:
    """Run all jobs in one process group."""
    # MMEngine's own start of the process group asks for a GPU whatever the backend.
    dist.init_process_group('gloo')
    seen = {name: run(name, folder / name) for name in OPTIONS}
    (folder / f'rank{dist.get_rank()}.json').write_text(json.dumps(seen))
    dist.destroy_process_group()


if __name__ == '__main__':
    main(Path(sys.argv[1]))
