"""Find settings that ``--cfg-options`` changes too late: the config file has copied them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from mmshufflemix.text import some

__all__ = ['check_copied', 'inside']


def check_copied(config: Mapping[str, Any], read: Collection[str], names: Iterable[str]) -> None:
    """Refuse names of variables of a config file, which are copied while it is read.

    ``data_root = 'a'`` and ``dataset=dict(data_root=data_root)`` are two settings once the file has
    been read: a change of the first would do nothing.

    Args:
        config: The settings without the options.
        read: Names at the top that are read later.
        names: Dotted names of settings.

    Raises:
        ValueError: With the places that have the value.
    """
    later = {key: value for key, value in config.items() if key in read}
    for name in names:
        top, *parts = name.split('.')
        if top in later or top not in config:
            continue
        value = config[top]
        for part in parts:
            value = inside(value, part)
        key = name.rpartition('.')[2]
        places = [] if value is None else list(_places(later, value, key, ''))
        if places:
            raise ValueError(
                f'--cfg-options sets {name}, which the config file has copied when it was read, '
                f'so that this changes nothing; set {some(places)} instead, or change {name} in '
                'the file itself.'
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
