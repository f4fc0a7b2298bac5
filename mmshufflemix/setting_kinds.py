"""Check that settings are of the kind that MMEngine expects, which fails by other words if not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mmengine.config import Config

__all__ = ['check_kinds']

_LOADERS = ('train_dataloader', 'val_dataloader', 'test_dataloader')


def check_kinds(cfg: Mapping[str, Any] | Config) -> None:
    """Check the kinds of the settings that are most often changed by ``--cfg-options``.

    Args:
        cfg: A config; what it lacks or has as None is not checked.

    Raises:
        ValueError: If one is of another kind, with its name, value and what is expected.
    """
    for name, value in _settings(cfg):
        fits, expected = _KINDS[name]
        if not fits(value):
            raise ValueError(f'{name} must be {expected}, got {value!r}.')


def _settings(cfg: Mapping[str, Any] | Config) -> Iterator[tuple[str, Any]]:
    for name in _KINDS:
        value: Any = cfg
        for part in name.split('.'):
            value = value.get(part) if isinstance(value, Mapping | Config) else None
        if value is not None:
            yield name, value


def _is_whole(value: Any, least: int) -> bool:
    # MMEngine takes 3.0 for 3, too.
    return _is_number(value) and value >= least and value == int(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63


_SETTINGS = (lambda value: isinstance(value, Mapping), 'a dict of settings')
_TEXT = (lambda value: isinstance(value, str), 'the name of a file')
_COUNT = (lambda value: _is_whole(value, 1), 'a whole number from 1')
_COUNT_OR_ZERO = (lambda value: _is_whole(value, 0), 'a whole number from 0')
_SEED = (lambda value: _is_whole(value, 0) and value < 2**32, 'a whole number from 0 below 2**32')
_POSITIVE = (lambda value: _is_number(value) and value >= 0, 'a number from 0')

# Outer ones first.
_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    **{name: _SETTINGS for name in ('model', 'optim_wrapper', 'randomness', *_LOADERS)},
    **{name: _SETTINGS for name in ('train_cfg', 'val_cfg', 'test_cfg', 'model.head')},
    'load_from': _TEXT,
    'randomness.seed': _SEED,
    'train_cfg.max_epochs': _COUNT_OR_ZERO,
    'train_cfg.max_iters': _COUNT_OR_ZERO,
    'train_cfg.val_interval': _COUNT,
    **{f'{name}.batch_size': _COUNT for name in _LOADERS},
    **{f'{name}.num_workers': _COUNT_OR_ZERO for name in _LOADERS},
    'model.head.num_classes': _COUNT,
    'data_preprocessor.num_classes': _COUNT,
    'model.data_preprocessor.num_classes': _COUNT,
    'optim_wrapper.accumulative_counts': _COUNT,
    'optim_wrapper.optimizer.lr': _POSITIVE,
    'optim_wrapper.optimizer.weight_decay': _POSITIVE,
}
