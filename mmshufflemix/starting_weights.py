"""Check that the weights a training starts from are there, before anything is built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mmengine.config import Config

from mmshufflemix.checkpoint import checkpoints_there
from mmshufflemix.prepare import check_local_file, is_missing_file

__all__ = ['check_starting_weights']

_LITE0 = 'work_dirs/weights/lite0.pth'
"""Where tools/lite0_weights.py writes by default."""


def check_starting_weights(cfg: Config) -> None:
    """Check ``load_from`` and the files of pretrained weights that parts of the model name.

    Addresses with a scheme are left to the download.

    Raises:
        FileNotFoundError: Naming the setting and the way to such a file.
    """
    if cfg.get('resume'):
        check_local_file(cfg.get('load_from'), 'checkpoint')
    else:
        _check(cfg.get('load_from'), 'load_from', 'load_from=None')
    for place, path in _pretrained(cfg.get('model'), 'model'):
        _check(path, f'{place}.checkpoint', f'{place}=None')


def _check(path: str | None, setting: str, without: str) -> None:
    if not path or not is_missing_file(path):
        return
    way_out = f'give the path of a .pth file, or {without} to start without'
    if Path(path).name == Path(_LITE0).name:
        target = '' if path == _LITE0 else f' {path}'
        way_out = f'write it with: python tools/lite0_weights.py{target}'
    raise FileNotFoundError(
        f"the file '{path}' of the weights to start from ({setting} in the config) does not exist"
        f'{checkpoints_there(path)}; {way_out}'
    )


def _pretrained(part: Any, place: str) -> Iterator[tuple[str, str]]:
    """Walk through a model's config to the init_cfg that reads a file, each with its place."""
    if isinstance(part, Mapping):
        if part.get('type') == 'Pretrained' and isinstance(part.get('checkpoint'), str):
            yield place, part['checkpoint']
        for key, value in part.items():
            yield from _pretrained(value, f'{place}.{key}')
    elif isinstance(part, list | tuple):
        for index, value in enumerate(part):
            yield from _pretrained(value, f'{place}.{index}')
