"""The short facts at the head of a report."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from typing import Any

from mmengine.config import Config

from mmshufflemix import __version__
from mmshufflemix.prepare import preprocessor_settings
from mmshufflemix.report.history import main_measure
from mmshufflemix.report.run import Run
from mmshufflemix.report.text import call_text, count, duration, number
from mmshufflemix.text import printable
from mmshufflemix.wrapped_datasets import loader_datasets

__all__ = ['data_folders', 'run_facts', 'save_best']

_LENGTH = {'epoch': 'max_epochs', 'iteration': 'max_iters'}


def run_facts(run: Run) -> dict[str, str]:
    """Collect the facts that are known."""
    config = run.config
    model = config.get('model') or {}
    facts = {
        'folder': str(run.folder),
        'state': _state(run),
        'network': _network(model),
        'parameters': f'{run.parameters:,}' if run.parameters else '',
        'augment': _augments(config),
        'training data': _dataset(config, 'train_dataloader'),
        'test data': _dataset(config, 'test_dataloader'),
        'classes': f'{len(run.classes):,}' if run.classes else '',
        'optimizer': _optimizer(run),
        'seed': _seed(run),
        **_measures(run),
        'time': _time(run),
        'versions': _versions(run),
        'report': f'{datetime.date.today().isoformat()}, mmshufflemix {__version__}',
    }
    return {name: printable(value) for name, value in facts.items() if value}


def save_best(config: Config) -> str | None:
    """Return the measure that the best checkpoint is kept by, if the config names one."""
    wanted = ((config.get('default_hooks') or {}).get('checkpoint') or {}).get('save_best')
    return wanted if isinstance(wanted, str) and wanted != 'auto' else None


def data_folders(config: Config) -> list[str]:
    """Return the folders of the test set's pictures."""
    found = []
    for dataset in loader_datasets(config, 'test_dataloader'):
        prefix = dataset.get('data_prefix')
        prefixes = list(prefix.values()) if isinstance(prefix, Mapping) else [prefix]
        roots = [dataset.get('data_root')]
        # A prefix counts from the root, so that without one it is the folder itself.
        found += [folder for folder in (roots if roots[0] else prefixes) if folder]
    return list(dict.fromkeys(str(folder) for folder in found))


def _state(run: Run) -> str:
    unit = 'epoch' if run.history.by_epoch else 'iteration'
    wanted = (run.config.get('train_cfg') or {}).get(_LENGTH[unit])
    done = run.history.last
    if not isinstance(wanted, int):
        return f'{count(done, unit)} logged; how many were planned is unknown'
    if done >= wanted:
        return f'finished, {count(wanted, unit)}'
    return (
        f'not finished: {unit} {done:,} of {wanted:,} is the last one logged (still running, or '
        'interrupted)'
    )


def _network(model: Mapping[str, Any]) -> str:
    parts = []
    for name in ('backbone', 'neck', 'head'):
        part = model.get(name)
        if isinstance(part, Mapping):
            keys = ('type', 'model_name', 'arch', 'depth', 'widen_factor', 'num_classes')
            parts.append(call_text({key: part[key] for key in keys if key in part}))
    return ' \u2192 '.join(parts)


def _augments(config: Config) -> str:
    model = config.get('model') or {}
    settings = model.get('train_cfg') or preprocessor_settings(config).get('batch_augments') or {}
    augments = settings.get('augments') or []
    listed = [augments] if isinstance(augments, Mapping | str) else list(augments)
    texts = [call_text(augment) for augment in listed]
    if settings.get('probs'):
        texts.append(f'probabilities {list(settings["probs"])}')
    return ', '.join(texts) or ('none' if model else '')


def _dataset(config: Config, loader: str) -> str:
    texts = []
    for dataset in loader_datasets(config, loader):
        keys = ('type', 'data_root', 'data_prefix', 'split', 'ann_file', 'fraction', 'indices')
        texts.append(call_text({key: dataset[key] for key in keys if dataset.get(key)}))
    batch = (config.get(loader) or {}).get('batch_size')
    if batch and loader == 'train_dataloader':
        texts.append(f'batches of {batch}')
    return ', '.join(texts)


def _optimizer(run: Run) -> str:
    """A resumed run goes on with the rates of its checkpoint, whatever its config says."""
    wrapper = run.config.get('optim_wrapper') or {}
    steps = wrapper.get('accumulative_counts') or 1
    text = call_text(wrapper['optimizer']) if wrapper.get('optimizer') else ''
    if not text:
        return ''
    text += f', {steps} batches a step' if steps != 1 else ''
    rates = [rate for _, rate in run.history.rates() if math.isfinite(rate)]
    return f'{text} by the config' + (
        f'; highest learning rate logged: {max(rates):g}' if rates else ''
    )


def _seed(run: Run) -> str:
    seed = (run.config.get('randomness') or {}).get('seed')
    return run.log_facts.get('seed', '') if seed is None else str(seed)


def _measures(run: Run) -> dict[str, str]:
    history = run.history
    key = main_measure(history.validations, save_best(run.config))
    if key is None:
        return {'validation': 'none logged'}
    unit = 'epoch' if history.by_epoch else 'iteration'
    step, value = history.measured(key)[-1]
    facts = {f'last {key}': f'{number(value)} ({unit} {step:,})'}
    best = history.best(key)
    if best:
        facts[f'best {key}'] = f'{number(best[1])} ({unit} {best[0]:,})'
    return facts


def _time(run: Run) -> str:
    text = '' if run.seconds is None else duration(run.seconds)
    starts = run.history.starts
    if len(starts) > 1:
        text += f' in {len(starts)} starts'
    return f'{text}, started {_date(starts[0])}'.removeprefix(', ')


def _date(start: str) -> str:
    try:
        return datetime.datetime.strptime(start, '%Y%m%d_%H%M%S').strftime('%Y-%m-%d %H:%M')
    except ValueError:
        return start


def _versions(run: Run) -> str:
    """Those of the log only: the report may be made on another machine."""
    names = [f'{name} {value}' for name, value in run.log_facts.items() if name != 'seed']
    return ', '.join(names)
