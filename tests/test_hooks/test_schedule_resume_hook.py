"""Schedules of resumed runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mmengine.runner import Runner

from mmshufflemix.checkpoint import load_checkpoint_file
from tests.tiny_job import load_job, write_job


def rates(config: Path, work_dir: Path, name: str, epochs: int, **options: Any) -> list[float]:
    """Train, and return the learning rates at the start of the epochs trained."""
    cfg = load_job(config, work_dir, train_cfg__max_epochs=epochs, **options)
    cfg.experiment_name = name
    runner = Runner.from_cfg(cfg)
    seen: list[float] = []
    step = runner.model.train_step

    def recorded(*args: Any, **kwargs: Any) -> Any:
        if runner.train_loop.iter % 3 == 0:
            seen.append(round(runner.optim_wrapper.get_lr()['lr'][0], 9))
        return step(*args, **kwargs)

    runner.model.train_step = recorded
    runner.train()
    return seen


SCHEDULES = {
    'milestone_where_it_stops': ([dict(type='MultiStepLR', milestones=[2, 3], gamma=0.5)], None),
    'warm_up': (
        [
            dict(type='LinearLR', start_factor=0.1, begin=0, end=1),
            dict(type='StepLR', step_size=1, gamma=0.5, begin=1),
        ],
        None,
    ),
    'iterations': (
        [dict(type='MultiStepLR', milestones=[2, 3], gamma=0.5, convert_to_iter_based=True)],
        None,
    ),
    # Half of a 2-epoch cosine is done, (0.05 + 0.01) / 2; then the 4-epoch one from there:
    # 0.01 + 0.02 (1 + cos 90) / (1 + cos 45), then 0.01 + 0.011715729 (1 + cos 135) / (1 + cos 90).
    'cosine': ([dict(type='CosineAnnealingLR', eta_min=0.01)], [0.021715729, 0.013431458]),
    'cosine_with_its_own_length': ([dict(type='CosineAnnealingLR', eta_min=0.01, T_max=4)], None),
}


@pytest.mark.parametrize('name', SCHEDULES)
def test_a_longer_resumed_run_follows_the_config(tmp_path: Path, name: str) -> None:
    schedule, after_stop = SCHEDULES[name]
    config = write_job(tmp_path)
    options: dict[str, Any] = {'param_scheduler': schedule, 'val_cfg': None}
    options |= {'val_dataloader': None, 'val_evaluator': None}
    whole = rates(config, tmp_path / 'whole', f'{name}_whole', 4, **options)
    first = rates(config, tmp_path / 'parts', f'{name}_first', 2, **options)
    rest = rates(config, tmp_path / 'parts', f'{name}_rest', 4, resume=True, **options)
    assert len(whole) == 4
    assert rest == pytest.approx(whole[2:] if after_stop is None else after_stop, abs=1e-8)
    if after_stop is None:
        assert first == pytest.approx(whole[:2], abs=1e-8)
    assert load_checkpoint_file(tmp_path / 'parts' / 'epoch_4.pth')['meta']['epoch'] == 4


def test_one_cycle_goes_on_along_the_longer_curve(tmp_path: Path) -> None:
    """Its rate depends on the place alone, so that it is that of the whole run."""
    config = write_job(tmp_path)
    options: dict[str, Any] = {'val_cfg': None, 'val_dataloader': None, 'val_evaluator': None}
    options['param_scheduler'] = [
        dict(type='OneCycleLR', eta_max=0.1, convert_to_iter_based=True),
    ]
    whole = rates(config, tmp_path / 'whole', 'one_cycle_whole', 4, **options)
    rates(config, tmp_path / 'parts', 'one_cycle_first', 2, **options)
    rest = rates(config, tmp_path / 'parts', 'one_cycle_rest', 4, resume=True, **options)
    assert rest == pytest.approx(whole[2:], abs=1e-8)
    assert len(set(rest)) == 2
