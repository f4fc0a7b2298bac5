"""Say what was probably meant by a name that nothing knows: a ``type`` or an argument."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

__all__ = ['argument_hint', 'argument_names', 'closest', 'type_meant', 'with_near_names']

_BUILDERS = 'mmengine.registry.build_functions'
_NO_TYPE = re.compile(r'(?P<name>[\w.]+) is not in the [\w: ]+ registry\b')
_NO_ARGUMENT = re.compile(
    r"(?P<function>[\w.]+)\(\) got an unexpected keyword argument '(?P<name>\w+)'"
)


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like another one, capitals or not, if one is near."""
    by_letters = {item.lower(): item for item in sorted(known)}
    # Below this share of equal letters 'NoSuchBackbone' is near 'TIMMBackbone'.
    near = get_close_matches(name.lower(), by_letters, 1, cutoff=0.75)
    return by_letters[near[0]] if near else None


def argument_hint(names: Iterable[str], known: Iterable[str]) -> str:
    """The end of a sentence about unknown arguments: those meant, or all that there are."""
    known = sorted(known)
    near = [meant for name in names if (meant := closest(name, known))]
    if near:
        return f'; did you mean {" and ".join(near)}?'
    return f'; it takes {", ".join(known) or "none"}'


def argument_names(function: Callable[..., Any]) -> set[str] | None:
    """Names of the arguments of a function, or of a class and of the bases it hands others to.

    Returns:
        The names, None if it may take any.
    """
    parts = [function]
    if inspect.isclass(function):
        bases = inspect.getmro(function)
        parts = [vars(base)['__init__'] for base in bases if '__init__' in vars(base)]
    names: set[str] = set()
    for part in parts:
        try:
            parameters = inspect.signature(part).parameters.values()
        except (TypeError, ValueError):
            return None
        names |= {item.name for item in parameters if item.kind is not item.VAR_POSITIONAL}
        others = {item.name for item in parameters if item.kind is item.VAR_KEYWORD}
        if not others:
            return names - {'self', 'cls'}
        names -= others
    return None


def type_meant(name: str, registry: Any) -> str | None:
    """What to write for a type that is like one of a registry, its parents or its children."""
    last = name.rpartition('.')[2]
    written: dict[str, str] = {}
    for scope, child in registry.children.items():
        written |= {item: f'{scope}.{item}' for item in child.module_dict}
    while registry is not None:
        written |= {item: item for item in registry.module_dict}
        registry = registry.parent
    meant = closest(last, written)
    return written[meant] if meant else None


def with_near_names(message: str, error: BaseException) -> str:
    """Add what was probably meant to MMEngine's message about a ``type``, or Python's on arguments.

    Args:
        message: What the error says, without prefixes.
        error: Its traceback leads to what was to be built, and from which registry.

    Returns:
        The new message; the old one where nothing is known.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    building = [frame for frame in frames if frame.f_globals.get('__name__') == _BUILDERS]
    if not building:
        return message
    values = building[-1].f_locals
    if found := _NO_TYPE.match(message):
        meant = type_meant(found['name'], values['registry'])
        return f'{found[0]}; did you mean {meant}?' if meant else message
    built: Any = values.get('obj_cls') or values.get('scheduler_cls')
    if (found := _NO_ARGUMENT.match(message)) and _belongs_to(found['function'], built):
        # A base class may have refused what was written for the one that is built.
        name = f'{built.__name__}.__init__' if inspect.isclass(built) else found['function']
        known = argument_names(built)
        hint = argument_hint([found['name']], known) if known is not None else ''
        return f"{name}() got an unexpected keyword argument '{found['name']}'{hint}"
    return message


def _belongs_to(function: str, built: Any) -> bool:
    if inspect.isclass(built):
        return function in [f'{owner.__qualname__}.__init__' for owner in inspect.getmro(built)]
    return function == getattr(built, '__qualname__', None)
