"""Run a robustness study of a checkpoint by its config."""

from __future__ import annotations

from typing import Any

from mmengine.config import Config, ConfigDict

from mmshufflemix.hooks.class_check_hook import ClassCheckHook
from mmshufflemix.launch import build_runner, with_download_hint
from mmshufflemix.prepare import check_local_file
from mmshufflemix.robustness.batches import check_memory
from mmshufflemix.robustness.study import Study

__all__ = ['measure_robustness']


def measure_robustness(
    cfg: Config, checkpoint: str, study: Study, metric: str | None = None, memory: float = 2.0
) -> dict[str, Any]:
    """Test a checkpoint on clean and noisy images, loading model and data once.

    Args:
        cfg: Config of a plain test, with a ``work_dir``; changed in place.
        checkpoint: File, or address of one.
        study: What to look at.
        metric: Key of a number of the test evaluator; the first one by default.
        memory: GiB of normalised images that may be kept.

    Returns:
        What :func:`~mmshufflemix.robustness.study.run_study` returns.

    Raises:
        FileNotFoundError: If there is no such checkpoint.
        ValueError: If the config tests nothing, the checkpoint is of another model, or ``memory``
            is negative or not finite.
    """
    check_memory(memory)
    check_local_file(checkpoint, 'checkpoint')
    if cfg.get('test_dataloader') is None or cfg.get('test_evaluator') is None:
        raise ValueError(
            'the config has no test_dataloader and test_evaluator, so nothing can be tested.'
        )
    cfg.launcher = 'none'
    cfg.load_from = checkpoint
    cfg.resume = False
    cfg.test_cfg = ConfigDict(
        type='RobustnessLoop',
        fp16=(cfg.get('test_cfg') or {}).get('fp16', False),
        levels={noise: list(levels) for noise, levels in study.levels.items()},
        modes=list(study.modes),
        seeds=list(study.seeds),
        metric=metric,
        memory=memory,
    )
    runner = build_runner(cfg)
    runner.register_hook(ClassCheckHook())
    return with_download_hint(runner.test, cfg)
