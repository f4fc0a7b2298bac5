"""Texts and numbers of a report."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mmshufflemix.text import shorten, some

__all__ = ['DASH', 'call_text', 'count', 'duration', 'number', 'percent']

DASH = '\u2013'


def number(value: float | None, digits: int = 2) -> str:
    """Write a number, or a dash for none."""
    return DASH if value is None or math.isnan(value) else f'{value:.{digits}f}'


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share of 0..1 in percent, or a dash for none."""
    return number(None if share is None else 100 * share, digits)


def count(amount: int, thing: str) -> str:
    """Write an amount with its noun, such as ``1 image`` and ``2,000 images``."""
    return f'{amount:,} {thing}' if amount == 1 else f'{amount:,} {thing}s'


def duration(seconds: float) -> str:
    """Write a time in the two units that matter."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f'{hours} h {minutes} min'
    return f'{minutes} min {rest} s' if minutes else f'{rest} s'


def call_text(settings: Any) -> str:
    """Write a part of a config as the call it stands for, its simple arguments only."""
    if not isinstance(settings, Mapping):
        return str(settings)
    kind = settings.get('type')
    name = kind if isinstance(kind, str) else getattr(kind, '__name__', '?')
    arguments = [
        f'{key}={value!r}'
        for key, value in settings.items()
        if key != 'type' and (value is None or isinstance(value, str | int | float | list | tuple))
    ]
    return shorten(f'{name}({some(arguments, limit=6)})' if arguments else str(name), 200)
