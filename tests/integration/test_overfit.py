"""Four images are learned by heart."""

from __future__ import annotations

from pathlib import Path

import pytest
from mmengine.runner import Runner

from tests.test_hooks.test_label_graph_hook import job

SHUFFLEMIX = {'type': 'ShuffleMix', 'label_threshold': 0.3}


@pytest.mark.parametrize('augment', [None, SHUFFLEMIX], ids=['plain', 'ShuffleMix'])
def test_four_images_reach_100_map_with_mlgcn(tmp_path: Path, augment: dict | None) -> None:
    epochs = 60
    config = job(
        tmp_path,
        experiment_name=f'overfit {augment}',
        train_cfg__max_epochs=epochs,
        train_cfg__val_interval=epochs,
        optim_wrapper__optimizer={'type': 'AdamW', 'lr': 0.01},
        optim_wrapper__clip_grad={'max_norm': 10},
        train_dataloader__batch_size=4,
        default_hooks={'checkpoint': {'type': 'CheckpointHook', 'interval': epochs}},
        randomness={'seed': 0},
    )
    config.model.train_cfg = {'augments': augment} if augment else None
    runner = Runner.from_cfg(config)
    runner.train()
    metrics = runner.val_loop.run()
    assert metrics['multi-label/mAP'] == 100
