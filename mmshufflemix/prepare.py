"""Checks and repairs of a config before anything is built from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from mmengine.config import Config, ConfigDict
from mmengine.logging import print_log
from mmengine.optim import AmpOptimWrapper
from mmpretrain.datasets import MultiLabelDataset
from mmpretrain.models.heads import ClsHead
from mmpretrain.registry import DATASETS, MODELS, OPTIM_WRAPPERS, OPTIMIZERS

from mmshufflemix.checkpoint import checkpoints_there
from mmshufflemix.near_names import type_meant
from mmshufflemix.option_names import merge_options
from mmshufflemix.setting_kinds import check_kinds
from mmshufflemix.wrapped_datasets import loader_datasets

__all__ = [
    'check_amp',
    'check_augments',
    'check_local_file',
    'check_optimizer',
    'check_task',
    'download_hint',
    'drop_pretrained',
    'head_class',
    'is_missing_file',
    'lookup',
    'merge_preprocessors',
    'prepare_config',
    'preprocessor_settings',
    'read_config',
]

_LOADERS = ('train_dataloader', 'val_dataloader', 'test_dataloader')


def read_config(path: str, options: dict[str, Any] | None = None) -> Config:
    """Read a config file and change some of its settings; names that nothing reads are warned of.

    Args:
        path: The file.
        options: What ``--cfg-options`` gave: dotted names and their values.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it cannot be read as a config.
    """
    check_local_file(path, 'config')
    try:
        cfg = Config.fromfile(path)
        merge_options(cfg, options)
    except (OSError, ImportError):
        raise
    except Exception as error:
        message = ' '.join(str(error).split())
        raise ValueError(
            f"config '{path}' cannot be read: {type(error).__name__}: {message}"
        ) from error
    return cfg


def prepare_config(cfg: Config) -> Config:
    """Repair what is surely meant, and refuse what is surely wrong, in a copy of a config.

    Raises:
        ValueError: With one sentence that names the setting and the fix.
    """
    check_kinds(cfg)
    cfg = merge_preprocessors(cfg)
    check_augments(cfg)
    check_task(cfg)
    return cfg


def merge_preprocessors(cfg: Config) -> Config:
    """Fill the model's data preprocessor with the settings of the one at the top of the config.

    MMEngine drops the whole top-level ``data_preprocessor`` if the model has one, and mean, std and
    the number of classes with it.

    Returns:
        A copy of the config, in which the model's own settings have priority.
    """
    cfg = deepcopy(cfg)
    inner = (cfg.get('model') or {}).get('data_preprocessor')
    outer = cfg.get('data_preprocessor')
    if not isinstance(inner, dict) or not isinstance(outer, dict):
        return cfg
    added = {key: value for key, value in outer.items() if key not in inner}
    same_type = inner.get('type', outer.get('type')) == outer.get('type', inner.get('type'))
    if added and same_type:
        cfg.model.data_preprocessor = ConfigDict({**added, **inner})
        print_log(
            f'model.data_preprocessor takes {", ".join(sorted(added))} from the top-level '
            'data_preprocessor.',
            logger='current',
        )
    return cfg


def preprocessor_settings(cfg: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return those of the data preprocessor that MMEngine takes: the model's, else at the top."""
    model = cfg.get('model')
    own = model.get('data_preprocessor') if isinstance(model, Mapping) else None
    settings = own or cfg.get('data_preprocessor')
    return settings if isinstance(settings, Mapping) else {}


def check_augments(cfg: Config) -> None:
    """Check the batch augments, and make whole-number ``alpha`` the float MMPretrain asks for.

    Raises:
        ValueError: If they are given in two places, an entry has the old ``num_classes``, or one is
            addressed as a list of them.
    """
    model = cfg.get('model') or {}
    in_train_cfg = (model.get('train_cfg') or {}).get('augments')
    in_preprocessor = (preprocessor_settings(cfg).get('batch_augments') or {}).get('augments')
    if in_train_cfg and in_preprocessor:
        raise ValueError(
            'batch augments are set in both model.train_cfg and data_preprocessor.batch_augments, '
            'and the first would be ignored; keep one of them.'
        )
    given = [in_train_cfg or in_preprocessor, *_switched_augments(cfg)]
    for augment in chain.from_iterable([a] if isinstance(a, dict) else a or [] for a in given):
        if not isinstance(augment, dict):
            continue
        if 'num_classes' in augment:
            raise ValueError(
                f'batch augment {augment.get("type")!r} got num_classes={augment["num_classes"]}, '
                'which augments no longer take; write '
                f'data_preprocessor=dict(num_classes={augment["num_classes"]}) instead.'
            )
        if place := next((key for key in augment if str(key).isdigit()), None):
            raise ValueError(
                f'--cfg-options sets augments.{place}, but the config has one augment and no list '
                f'of them; leave the .{place} out, as in model.train_cfg.augments.type=...'
            )
        if isinstance(augment.get('alpha'), int) and not isinstance(augment['alpha'], bool):
            augment['alpha'] = float(augment['alpha'])


def _switched_augments(cfg: Config) -> Iterator[Any]:
    """The augments that SwitchRecipeHook puts in place later."""
    for hook in cfg.get('custom_hooks') or []:
        for recipe in hook.get('schedule') or [] if isinstance(hook, dict) else []:
            switched = recipe.get('batch_augments')
            if isinstance(switched, dict):
                yield switched.get('augments')


def check_task(cfg: Config) -> None:
    """Check that a head for one label an image does not meet data with several, and the reverse.

    Raises:
        ValueError: If they do not fit.
    """
    head = head_class(cfg)
    for name in _LOADERS:
        for dataset in loader_datasets(cfg, name):
            dataset_class = lookup(DATASETS, dataset.get('type'))
            if not dataset_class or not head:
                continue
            several = issubclass(dataset_class, MultiLabelDataset)
            if several and issubclass(head, ClsHead):
                raise ValueError(
                    f'{name} has the multi-label data set {dataset_class.__name__} but the head '
                    f'{head.__name__} gives one label an image; use a multi-label head, for '
                    "example model.head=dict(type='MultiLabelLinearClsHead', ...)."
                )


def check_optimizer(cfg: Config) -> None:
    """Check that the optimizer exists; MMEngine's own message for this is not readable.

    Raises:
        ValueError: If no optimizer has that name.
    """
    name = ((cfg.get('optim_wrapper') or {}).get('optimizer') or {}).get('type')
    if isinstance(name, str) and OPTIMIZERS.get(name) is None:
        near = type_meant(name, OPTIMIZERS)
        way_out = f'did you mean {near}?' if near else "write for example 'SGD' or 'AdamW'."
        raise ValueError(
            f'optim_wrapper.optimizer.type is {name!r}, which is not an optimizer; {way_out}'
        )


def check_amp(cfg: Config) -> None:
    """Check that mixed precision has a GPU to run on.

    Raises:
        ValueError: If there is none.
    """
    wrapper = lookup(OPTIM_WRAPPERS, (cfg.get('optim_wrapper') or {}).get('type'))
    if (
        isinstance(wrapper, type)
        and issubclass(wrapper, AmpOptimWrapper)
        and not torch.cuda.is_available()
    ):
        raise ValueError(
            'mixed precision (--amp, AmpOptimWrapper) needs a GPU and none is visible; leave --amp '
            "out, or set optim_wrapper.type='OptimWrapper', to train on the CPU."
        )


def drop_pretrained(model: Any) -> None:
    """Take pretrained weights out of a model config, in place, where a checkpoint brings them all.

    A resumed run then needs no download, and no cache of one.
    """
    if isinstance(model, list | tuple):
        for part in model:
            drop_pretrained(part)
    elif isinstance(model, dict):
        init_cfg = model.get('init_cfg')
        if isinstance(init_cfg, dict) and init_cfg.get('type') == 'Pretrained':
            model['init_cfg'] = None
        drop_pretrained(list(model.values()))


def check_local_file(path: str | None, what: str) -> None:
    """Check that a path, unless it is an address with a scheme, leads to a file.

    Raises:
        FileNotFoundError: If it does not, naming the checkpoints that are there if it is to be one.
    """
    if path and is_missing_file(path):
        others = checkpoints_there(path) if what == 'checkpoint' or path.endswith('.pth') else ''
        raise FileNotFoundError(f"{what} '{path}' does not exist or is not a file{others}.")


def is_missing_file(path: str) -> bool:
    """Tell whether a path, unless it is an address with a scheme, leads to no file."""
    return '://' not in path and not Path(path).expanduser().is_file()


def download_hint(cfg: Config) -> str:
    """Say which data sets of a config can be downloaded, from where and into which folder."""
    found: list[str] = []
    for name in _LOADERS:
        for dataset in loader_datasets(cfg, name):
            dataset_class = lookup(DATASETS, dataset.get('type'))
            address = getattr(dataset_class, 'url', getattr(dataset_class, 'url_prefix', None))
            if address:
                folder = dataset.get('data_root') or dataset.get('data_prefix')
                hint = f"{dataset_class.__name__} from {address} into '{folder}'"
                if hint not in found:
                    found.append(hint)
    return '; '.join(found)


def head_class(cfg: Config) -> Any:
    """The class of the model's head, or None where there is none."""
    return lookup(MODELS, ((cfg.get('model') or {}).get('head') or {}).get('type'))


def lookup(registry: Any, name: Any) -> Any:
    """The class of a ``type`` in a config, which is a name or the class itself."""
    return registry.get(name) if isinstance(name, str) else name
