"""Notice that a run was made with other settings than those asked for now."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mmengine.config import Config

from mmshufflemix.files import write_json
from mmshufflemix.json_reading import parse_json

__all__ = [
    'differences',
    'digest',
    'file_digests',
    'flat_settings',
    'read_fingerprint',
    'write_fingerprint',
]

_FILE_SETTINGS = {'label_graph', 'checkpoint', 'load_from'}
_FILE_MARK = 'SHA-256 of '
_UNSET = object()
# Where a run is kept and how it is started, not what it computes.
_NOT_SETTINGS = {'work_dir', 'resume', 'launcher', 'local_rank', 'experiment_name', 'log_level'}


def flat_settings(cfg: Config) -> dict[str, Any]:
    """List all settings of a config that have to do with the result, by dotted name.

    Values are plain JSON; empty lists and dicts are kept as such, classes are named.
    """
    flat: dict[str, Any] = {}
    for key, value in cfg.to_dict().items():
        if key not in _NOT_SETTINGS:
            _flatten(key, value, flat)
    return dict(sorted(flat.items()))


def file_digests(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of the files that settings name: label graphs and checkpoints.

    Files that are not there are left out; training may build or download them.
    """
    found = {}
    for key, value in settings.items():
        is_file = key.rpartition('.')[2] in _FILE_SETTINGS and isinstance(value, str)
        if is_file and os.path.isfile(value):
            found[f'{_FILE_MARK}{key}'] = hashlib.sha256(Path(value).read_bytes()).hexdigest()
    return found


def digest(settings: Mapping[str, Any]) -> str:
    """Return the SHA-256 of settings in a canonical order."""
    text = json.dumps(dict(settings), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Describe each setting that differs as ``name (old -> new)``; absent ones show as 'unset'.

    Contents of files are compared only where both are known: a file may be built by the training.
    """
    return [
        f'{key} ({old.get(key, "unset")} -> {new.get(key, "unset")})'
        for key in sorted(old.keys() | new.keys())
        if old.get(key, _UNSET) != new.get(key, _UNSET)
        and not (key.startswith(_FILE_MARK) and (key not in old or key not in new))
    ]


def write_fingerprint(path: Path, settings: Mapping[str, Any]) -> None:
    """Write settings in a form for readers, with their digest."""
    write_json(path, {'sha256': digest(settings), 'settings': dict(settings)})


def read_fingerprint(path: Path) -> dict[str, Any] | None:
    """Read the settings of :func:`write_fingerprint`, or None if there is no such file.

    Raises:
        ValueError: If it does not hold what was written.
    """
    if not path.is_file():
        return None
    try:
        content = parse_json(path.read_bytes())
        settings = content['settings']
        intact = digest(settings) == content['sha256']
    except (ValueError, KeyError, TypeError, AttributeError):
        intact = False
    if not intact:
        raise ValueError(f"'{path}' was changed by hand; move its folder away")
    return settings


def _flatten(key: str, value: Any, flat: dict[str, Any]) -> None:
    if isinstance(value, dict) and value:
        for name, item in value.items():
            _flatten(f'{key}.{name}', item, flat)
    elif isinstance(value, list | tuple) and value:
        for index, item in enumerate(value):
            _flatten(f'{key}.{index}', item, flat)
    elif isinstance(value, list | tuple | dict):
        flat[key] = {} if isinstance(value, dict) else []
    elif value is None or isinstance(value, str | int | float | bool):
        flat[key] = value
    else:
        flat[key] = f'{value.__module__}.{value.__name__}' if callable(value) else repr(value)
