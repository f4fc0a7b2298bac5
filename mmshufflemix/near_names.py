"""Say what was probably meant by a name that nothing knows: a ``type`` or an argument."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

__all__ = [
    'argument_hint',
    'argument_names',
    'closest',
    'type_meant',
    'unknown_arguments',
    'with_near_names',
]

# The runner builds its own loops without a registry.
_BUILDERS = ('mmengine.registry.build_functions', 'mmengine.runner.runner')
_SCOPES = ('mmcls', 'mmcv', 'mmengine', 'mmpretrain', 'mmshufflemix')
_ENDINGS = ('classifier', 'dataset', 'head', 'hook', 'loss', 'metric', 'neck', 'runner')
_NO_TYPE = re.compile(r'(?P<name>[\w.]+) is not in the [\w: ]+ registry\b')
_NO_ARGUMENT = re.compile(
    r"(?P<owner>[\w.]+)\.__init__\(\) got an unexpected keyword argument '(?P<name>\w+)'"
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


def unknown_arguments(owner: str, names: Iterable[str], known: Iterable[str]) -> str:
    """A sentence about arguments that a class does not have."""
    names = sorted(names)
    return f'{owner} got unknown arguments: {", ".join(names)}{argument_hint(names, known)}'


def argument_names(kind: type) -> set[str] | None:
    """Names of the arguments of a class and of those its bases get, None for any."""
    names: set[str] = set()
    for base in inspect.getmro(kind):
        if '__init__' not in vars(base):
            continue
        try:
            parameters = inspect.signature(vars(base)['__init__']).parameters.values()
        except (TypeError, ValueError):
            return None
        names |= {item.name for item in parameters if item.kind is not item.VAR_POSITIONAL}
        others = {item.name for item in parameters if item.kind is item.VAR_KEYWORD}
        if not others:
            return names - {'self'}
        names -= others
    return None


def type_meant(name: str, registry: Any) -> str | None:
    """What to write for a type that is like one of a registry, its parents or its children.

    None for one of another package, which nothing here knows.
    """
    scope, _, last = name.rpartition('.')
    if scope and closest(scope, _SCOPES) is None:
        return None
    written: dict[str, str] = {}
    for scope, child in registry.children.items():
        written |= {item: f'{scope}.{item}' for item in child.module_dict}
    while registry is not None:
        written |= {item: item for item in registry.module_dict}
        registry = registry.parent
    # Endings make short names alike: MyHead is not meant for MIMHead.
    ending = next((end for end in _ENDINGS if last.lower().endswith(end)), '')
    alike = {item.lower().removesuffix(ending): item for item in sorted(written)}
    meant = closest(last.lower().removesuffix(ending), alike)
    return written[alike[meant]] if meant else None


def with_near_names(message: str, error: BaseException) -> str:
    """Add what was probably meant to MMEngine's message about a ``type``, or Python's on arguments.

    Args:
        message: What the error says, without prefixes.
        error: Its traceback leads to what was to be built, and from which registry.

    Returns:
        The new message; the old one where nothing is known.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    building = [frame for frame in frames if frame.f_globals.get('__name__') in _BUILDERS]
    if not building:
        return message
    values = {**building[-1].f_globals, **building[-1].f_locals}
    if (found := _NO_TYPE.match(message)) and 'registry' in values:
        meant = type_meant(found['name'], values['registry'])
        own = 'A class of your own has to be imported by custom_imports'
        return f'{found[0]}; did you mean {meant}? {own}' if meant else message
    if found := _NO_ARGUMENT.match(message):
        built: Any = values.get('obj_cls') or values.get('scheduler_cls')
        built = built or values.get(found['owner'])
        bases = inspect.getmro(built) if inspect.isclass(built) else ()
        # A base class may have refused what was written for the one that is built.
        if found['owner'] in [base.__qualname__ for base in bases]:
            known = argument_names(built)
            hint = argument_hint([found['name']], known) if known is not None else ''
            start = f'{built.__name__}.__init__() got an unexpected keyword argument'
            return f"{start} '{found['name']}'{hint}"
    return message
