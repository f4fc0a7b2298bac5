"""Find settings that ``--cfg-options`` changes too late: the config file has used them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from mmengine.config import Config

from mmshufflemix.config_uses import lines_of_use, sources
from mmshufflemix.text import some

__all__ = ['check_copied', 'inside']


def check_copied(cfg: Config, read: Collection[str], names: Iterable[str]) -> None:
    """Refuse names of variables of a config file, which are used while it is read.

    ``data_root = 'a'`` and ``dataset=dict(data_root=data_root)`` are two settings once the file has
    been read: a change of the first would do nothing. So are ``end = 9`` and ``T_max=end - 1``.

    Args:
        cfg: The settings without the options.
        read: Names at the top that are read later.
        names: Dotted names of settings.

    Raises:
        ValueError: With the places that have the value, and the lines that use it.
    """
    config = cfg.to_dict()
    later = {key: value for key, value in config.items() if key in read}
    files = None
    for name in names:
        top, *parts = name.split('.')
        if top in later or top not in config:
            continue
        value: Any = config[top]
        for part in parts:
            value = inside(value, part)
        key = name.rpartition('.')[2]
        places = [] if value is None else list(_places(later, value, key, ''))
        files = sources(cfg) if files is None else files
        lines = lines_of_use(files, top)
        if places or lines:
            where = f' ({lines})' if lines else ''
            raise ValueError(
                f'--cfg-options sets {name}, which the config file has '
                f'{"copied" if places else "used"} when it was read{where}, so that this changes '
                f'nothing; set {some(places) or "what is made of it there"} instead, or change '
                f'{name} in the file itself.'
            )


def inside(value: Any, part: str) -> Any:
    """What a dict has under a name, or a list at a number; None if there is nothing."""
    if isinstance(value, dict):
        return value.get(part)
    if isinstance(value, list | tuple) and part.isdigit() and int(part) < len(value):
        return value[int(part)]
    return None


def _places(settings: Any, value: Any, key: str, place: str) -> Iterator[str]:
    """Dotted names of the same value; of a number or switch only those that end with the key."""
    items = settings.items() if isinstance(settings, dict) else enumerate(settings)
    for name, found in items:
        path = f'{place}.{name}'.lstrip('.')
        telling = name == key or (isinstance(value, str | list | tuple | dict) and len(value) > 0)
        if telling and type(found) is type(value) and found == value:
            yield path
        elif isinstance(found, dict | list | tuple):
            yield from _places(found, value, key, path)
