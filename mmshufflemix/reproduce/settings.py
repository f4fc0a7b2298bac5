"""The complete config of a row, shortened if asked."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from mmengine.config import Config, ConfigDict

from mmshufflemix.prepare import read_config
from mmshufflemix.reproduce.rows import Row

__all__ = [
    'SEED_SETTING',
    'keep_part',
    'row_config',
    'shorten_schedule',
    'total_epochs',
    'with_seed',
]

SEED_SETTING = 'randomness.seed'
_SCHEDULER_EPOCHS = ('begin', 'end', 'T_max', 'step_size', 'total_iters', 'T_0')


def row_config(
    row: Row,
    configs: Path,
    epochs: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[Config, int]:
    """Put together the config of one row.

    Args:
        row: The experiment.
        configs: Folder that the row's config is relative to.
        epochs: Shorten the training to so many epochs; see :func:`shorten_schedule`.
        options: The user's changes, by dotted name. They have the last word, but see a training set
            of which a part is kept as it is in the config file, so that they fit all tables.

    Returns:
        The config, and the number of epochs of the experiment before anything was shortened.

    Raises:
        FileNotFoundError: If the config file does not exist.
        ValueError: If it cannot be read, or is not trained by epochs.
    """
    cfg = read_config(str(configs / row.config), dict(row.options))
    full = total_epochs(cfg, row.config)
    if epochs is not None:
        cfg = shorten_schedule(cfg, epochs)
    cfg.merge_from_dict(dict(options or {}))
    total_epochs(cfg, row.config)
    if row.kept is not None:
        cfg = keep_part(cfg, row.kept)
    return cfg, full


def with_seed(cfg: Config, seed: int) -> Config:
    """Set the seed of the training in a copy of a config."""
    cfg = deepcopy(cfg)
    cfg.merge_from_dict({SEED_SETTING: seed})
    return cfg


def total_epochs(cfg: Config, name: str) -> int:
    """Return how many epochs a config trains for.

    Raises:
        ValueError: If it does not count epochs.
    """
    train_cfg = cfg.get('train_cfg')
    epochs = train_cfg.get('max_epochs') if isinstance(train_cfg, dict) else None
    if not isinstance(epochs, int) or epochs < 1:
        raise ValueError(
            f"config '{name}' has train_cfg.max_epochs={epochs!r}, but a row needs training by "
            'epochs; set it to an integer of at least 1'
        )
    return epochs


def keep_part(cfg: Config, fraction: float) -> Config:
    """Wrap the training set of a copy of a config so that a share of each class is kept."""
    cfg = deepcopy(cfg)
    cfg.train_dataloader.dataset = ConfigDict(
        type='ClassSubset', fraction=fraction, dataset=cfg.train_dataloader.dataset
    )
    return cfg


def shorten_schedule(cfg: Config, epochs: int) -> Config:
    """Shorten the training of a copy of a config, and its schedules in proportion.

    What a scheduler counts in epochs (milestones, begin, end, periods) is scaled and rounded to
    whole epochs, halves up, at least 1 where it was; what it counts in steps stays.

    Raises:
        ValueError: If that is not fewer epochs than before, or none.
    """
    full = cfg.train_cfg.max_epochs
    if not 1 <= epochs < full:
        raise ValueError(
            f'--epochs {epochs} does not shorten a training of {full} epochs; give 1 to {full - 1}'
        )
    cfg = deepcopy(cfg)

    def scale(value: int) -> int:
        return max(1, (2 * value * epochs + full) // (2 * full)) if value > 0 else value

    schedulers = cfg.get('param_scheduler') or []
    for scheduler in [schedulers] if isinstance(schedulers, dict) else schedulers:
        if not scheduler.get('by_epoch', True):
            continue
        if 'milestones' in scheduler:
            scheduler['milestones'] = [scale(value) for value in scheduler['milestones']]
        for key in _SCHEDULER_EPOCHS:
            if isinstance(scheduler.get(key), int):
                scheduler[key] = scale(scheduler[key])
    cfg.train_cfg.max_epochs = epochs
    if 'val_begin' in cfg.train_cfg:
        cfg.train_cfg.val_begin = scale(cfg.train_cfg.val_begin)
    return cfg
