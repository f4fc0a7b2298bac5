"""Read the config in a checkpoint, and find what prepares pictures otherwise than in training.

MMEngine writes the config as the text of a Python program. It is parsed and never run, since
anybody may have written it.
"""

from __future__ import annotations

import ast
import logging
from collections.abc import Iterator, Mapping
from typing import Any

from mmengine.logging import print_log

from mmshufflemix.prepare import preprocessor_settings

__all__ = ['preprocessing_changes', 'trained_config', 'warn_of_other_preprocessing']

_KEYS = ('mean', 'std', 'to_rgb')
_LONGEST = 10_000_000
"""Characters; the parser needs many times the memory of its text."""


def trained_config(checkpoint: Any) -> dict[str, Any]:
    """Read the settings in the metadata of a checkpoint, empty where there are none to read.

    Values are taken from numbers, names, lists, tuples, dicts and ``dict(...)``; a setting with
    anything else in it is left out.

    Args:
        checkpoint: What a checkpoint file holds.
    """
    meta = checkpoint.get('meta') if isinstance(checkpoint, Mapping) else None
    text = meta.get('cfg') if isinstance(meta, Mapping) else None
    if not isinstance(text, str) or len(text) > _LONGEST:
        return {}
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return {}
    return dict(_settings(body))


def preprocessing_changes(checkpoint: Any, cfg: Mapping[str, Any]) -> list[str]:
    """Compare how the data preprocessors of a checkpoint and of a config treat colours.

    Args:
        checkpoint: What a checkpoint file holds.
        cfg: The config that is used with it.

    Returns:
        A sentence without a full stop for each of mean, std and order of the colours that differs;
        none where the checkpoint does not say.
    """
    trained, used = _colours(trained_config(checkpoint)), _colours(cfg)
    if not trained or not used:
        return []
    return [
        f'the checkpoint was trained with data_preprocessor.{key}={trained[key]!r} and this config '
        f'has {used[key]!r}, so that the model sees other colours than in training; set it to the '
        'former unless the change is meant'
        for key in _KEYS
        if trained[key] != used[key]
    ]


def warn_of_other_preprocessing(checkpoint: Any, cfg: Mapping[str, Any]) -> None:
    """Log what :func:`preprocessing_changes` finds."""
    for sentence in preprocessing_changes(checkpoint, cfg):
        print_log(f'{sentence}.', logger='current', level=logging.WARNING)


def _settings(body: list[ast.stmt]) -> Iterator[tuple[str, Any]]:
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                try:
                    yield name, _value(value)
                except (TypeError, ValueError, RecursionError):
                    continue


def _value(node: ast.expr | None) -> Any:
    match node:
        case ast.Call(func=ast.Name(id='dict'), args=[], keywords=keywords) if all(
            item.arg for item in keywords
        ):
            return {item.arg: _value(item.value) for item in keywords}
        case ast.Dict(keys=keys, values=values):
            return {_value(key): _value(value) for key, value in zip(keys, values, strict=True)}
        case ast.List(elts=elements):
            return [_value(element) for element in elements]
        case ast.Tuple(elts=elements):
            return tuple(_value(element) for element in elements)
        case None:
            raise ValueError('a dict is unpacked')
        case _:
            return ast.literal_eval(node)


def _colours(cfg: Mapping[str, Any]) -> dict[str, Any]:
    """What the data preprocessor says of colours."""
    settings = preprocessor_settings(cfg)
    return {key: _plain(settings.get(key) or None) for key in _KEYS} if settings else {}


def _plain(value: Any) -> Any:
    """A list of numbers, however they were written."""
    if not isinstance(value, list | tuple):
        return value
    return [float(item) if isinstance(item, int) else item for item in value]
