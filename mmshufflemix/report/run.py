"""Gather what the work folder of a run holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from mmengine.config import Config
from mmpretrain.utils import register_all_modules

from mmshufflemix.checkpoint import latest_checkpoint, load_checkpoint_file
from mmshufflemix.checkpoint_content import checkpoint_classes
from mmshufflemix.class_names import check_class_names
from mmshufflemix.inference.build import config_classes
from mmshufflemix.prepare import read_config
from mmshufflemix.report.history import History, join_starts
from mmshufflemix.report.log_text import LogFacts, read_log_facts
from mmshufflemix.run_logs import is_training, read_starts
from mmshufflemix.text import printable, some

__all__ = ['Run', 'read_run']

# Buffers of normalisation layers are no parameters.
_BUFFERS = ('running_mean', 'running_var', 'num_batches_tracked')


@dataclass(frozen=True)
class Run:
    """A run, as far as it is known.

    Attributes:
        folder: Its work folder.
        name: Name of the config.
        config_file: Where the config was read from, None if there is none.
        config: The config, empty if there is none.
        config_text: Its text.
        history: Curves.
        log_facts: Versions and seed.
        seconds: Time of the starts of the curves, None without text logs.
        checkpoint: The newest, None without any.
        parameters: Numbers in the checkpoint's model.
        classes: Names of the classes, None if unknown.
        notes: What is missing.
    """

    folder: Path
    name: str
    config_file: Path | None
    config: Config
    config_text: str
    history: History
    log_facts: LogFacts
    seconds: float | None
    checkpoint: Path | None
    parameters: int | None
    classes: Sequence[str] | None
    notes: Sequence[str]


def read_run(folder: Path, config_file: Path | None = None) -> Run:
    """Read logs, config and the newest checkpoint of a run.

    Args:
        folder: Its work folder.
        config_file: Instead of the config that the training left there.

    Raises:
        FileNotFoundError: If there is no such folder or config.
        ValueError: If it holds no training, or the given config cannot be read.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"'{folder}' is no folder; give the work folder of a training")
    starts = read_starts(folder)
    trained = [name for name, records in starts.items() if any(map(is_training, records))]
    if not trained:
        _complain(folder)
    history = join_starts({name: starts[name] for name in trained})
    notes: list[str] = []
    dumped = sorted(folder.glob('*.py'))
    source = config_file or _trained_config(folder, trained, dumped)
    config, text = _read(source, config_file is not None, notes)
    checkpoint = latest_checkpoint(folder)
    content = _load(checkpoint, notes)
    facts, seconds = read_log_facts(folder, history.starts)
    return Run(
        folder,
        _name(folder, config_file or (dumped[0] if len(dumped) == 1 else None)),
        source,
        config,
        text,
        history,
        facts,
        seconds,
        checkpoint,
        _parameters(content),
        _classes(config, content, notes),
        notes,
    )


def _complain(folder: Path) -> None:
    inside = sorted({path.parents[2].name for path in folder.glob('*/*/vis_data/scalars.json')})
    hint = (
        f'its sub-folders have some: {some(inside)}'
        if inside
        else 'give the --work-dir of tools/train.py, whose config has the LocalVisBackend'
    )
    raise ValueError(f"'{folder}' holds no log of a training (TIME/vis_data/scalars.json); {hint}")


def _trained_config(folder: Path, starts: Sequence[str], dumped: Sequence[Path]) -> Path | None:
    """Take the config that the last start wrote for itself; a test may replace the one above."""
    own = folder / starts[-1] / 'vis_data' / 'config.py'
    if own.is_file():
        return own
    return max(dumped, key=lambda path: path.stat().st_mtime, default=None)


def _read(source: Path | None, asked: bool, notes: list[str]) -> tuple[Config, str]:
    register_all_modules()
    if source is None:
        notes.append('The config is missing in the folder; --config FILE gives it.')
        return Config(), ''
    try:
        config = read_config(str(source))
        return config, config.pretty_text if asked else source.read_text(errors='replace')
    except Exception as error:  # anything, since a config is a program
        if asked:
            raise
        reason = printable(str(error))
        notes.append(f'The config cannot be read ({reason}); --config FILE gives another.')
        return Config(), source.read_text(errors='replace')


def _load(checkpoint: Path | None, notes: list[str]) -> Mapping[str, Any]:
    if checkpoint is None:
        notes.append('The folder holds no complete checkpoint.')
        return {}
    try:
        content = load_checkpoint_file(checkpoint)
    except (OSError, ValueError) as error:
        notes.append(f'The newest checkpoint is not used: {printable(str(error))}')
        return {}
    return content if isinstance(content, dict) else {}


def _parameters(content: Mapping[str, Any]) -> int | None:
    weights = content.get('state_dict')
    if not isinstance(weights, Mapping):
        return None
    return sum(
        value.numel()
        for name, value in weights.items()
        if isinstance(value, torch.Tensor) and not name.endswith(_BUFFERS)
    )


def _classes(
    config: Config, content: Mapping[str, Any], notes: list[str]
) -> tuple[str, ...] | None:
    """The checkpoint knows the classes of the training, also those named by folders."""
    try:
        names = checkpoint_classes(content) or config_classes(config)
        return check_class_names(names) if names else None
    except Exception as error:  # a data set of someone else, asked for its classes
        notes.append(f'The class names cannot be read: {printable(str(error))}')
        return None


def _name(folder: Path, config_file: Path | None) -> str:
    """Prefer the name of the config file, unless it says nothing."""
    own = config_file.stem if config_file else ''
    return printable(own if own not in ('', 'config') else folder.absolute().name)
