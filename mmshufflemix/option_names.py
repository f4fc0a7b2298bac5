"""Find names that ``--cfg-options`` gives and nothing reads, such as misspelled ones."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from mmengine.config import Config
from mmengine.logging import print_log
from mmengine.runner import Runner
from mmpretrain import registry
from mmpretrain.models import ImageClassifier

from mmshufflemix.copied_names import check_copied, inside
from mmshufflemix.near_names import argument_names, closest

__all__ = ['check_names', 'merge_options', 'unknown_names']

# What MMEngine, MMPretrain and this package read beside the arguments of the Runner.
_TOP_LEVEL = {
    *('activation_checkpointing', 'compile', 'custom_imports', 'efficient_conv_bn_eval'),
    *('find_unused_parameters', 'model_wrapper_cfg', 'runner_type', 'strategy', 'sync_bn'),
    *('tta_model', 'tta_pipeline'),
}
# Dicts of which all other names are ignored without a word.
_READ_IN = {
    'env_cfg': {'cudnn_benchmark', 'mp_cfg', 'dist_cfg', 'resource_limit'},
    'auto_scale_lr': {'base_batch_size', 'enable'},
}
_AUGMENTS = {'augments', 'probs'}
# MMEngine takes it as a word of its own: the rest replaces what was there.
_DELETE = '_delete_'
# What is taken out of a dict before an object is built of the rest.
_BUILDER_NAMES = {
    *('type', '_scope_', 'priority', 'constructor', 'paramwise_cfg'),
    *('convert_to_iter_based', 'epoch_length', 'layer', 'magnitude_key', 'override'),
}
_REGISTRIES = [value for name, value in vars(registry).items() if name.isupper()]


def merge_options(cfg: Config, options: Mapping[str, Any] | None) -> None:
    """Change settings of a config in place, and warn of names that nothing reads.

    Args:
        cfg: Changed in place.
        options: What ``--cfg-options`` gave: dotted names and their values.

    Raises:
        ValueError: If a name is that of a variable which the file has used, or leads into a list
            without a number.
    """
    if not options:
        return
    before = cfg.to_dict()
    check_names(cfg, options)
    cfg.merge_from_dict(dict(options))
    for sentence in unknown_names(before, cfg.to_dict(), options):
        print_log(f'{sentence}.', logger='current', level=logging.WARNING)


def check_names(cfg: Config, names: Collection[str]) -> None:
    """Refuse names that would change nothing, or lead into a list without a number.

    A list that is replaced by a dict, with ``_delete_=True`` beside its names, needs no number.

    Args:
        cfg: The settings without the options.
        names: Dotted names of settings.

    Raises:
        ValueError: In one sentence with the way out.
    """
    config = cfg.to_dict()
    replaced = {place for place, _, last in (n.rpartition('.') for n in names) if last == _DELETE}
    for name in names:
        value: Any = config
        parts = name.split('.')
        for depth, part in enumerate(parts):
            if '.'.join(parts[:depth]) in replaced:
                break
            if isinstance(value, list | tuple) and not part.isdigit():
                first = '.'.join([*parts[:depth], '0', *parts[depth:]])
                raise ValueError(
                    f'--cfg-options sets {name}, but {".".join(parts[:depth])} is a list of '
                    f'{len(value)}; say which of them by its number, for example {first}.'
                )
            value = inside(value, part)
    check_copied(cfg, _read_at_the_top(), names)


def unknown_names(
    before: Mapping[str, Any], after: Mapping[str, Any], names: Iterable[str]
) -> Iterator[str]:
    """Find dotted names with a part that the config lacked and nothing reads.

    A new part is right at the top if the Runner reads it, in a dict with a ``type`` if the class
    takes such an argument, and everywhere in dicts without one, for these are free in form; of
    ``model.train_cfg``, ``env_cfg`` and ``auto_scale_lr`` it is known what is read.

    Args:
        before: The config without the options.
        after: The config with them; what a class takes depends on the ``type`` that is given.
        names: Dotted names of settings.

    Yields:
        For each such name a sentence without a full stop, with the nearest known name.
    """
    for name in names:
        parts = name.split('.')
        old: Any = before
        new: Any = after
        for depth, part in enumerate(parts):
            known = part == _DELETE or (isinstance(old, dict) and part in old)
            accepted = None if known else _accepted(parts[:depth], new, after)
            if accepted is not None and part not in accepted:
                yield _sentence(name, depth, accepted | set(old if isinstance(old, dict) else ()))
                break
            old, new = inside(old, part), inside(new, part)


def _accepted(place: list[str], new: Any, config: Mapping[str, Any]) -> set[str] | None:
    """Names that are read in a dict of the config, None where all may be."""
    if not place:
        return _read_at_the_top()
    if not isinstance(new, dict):
        return None
    path = '.'.join(place)
    if path == 'model.train_cfg' and _classes(config['model'].get('type')) == [ImageClassifier]:
        return _AUGMENTS
    if 'type' not in new:
        return _READ_IN.get(path)
    found = [argument_names(kind) for kind in _classes(new['type'])]
    if not found or None in found:
        return None
    return _BUILDER_NAMES.union(*(names for names in found if names is not None))


def _read_at_the_top() -> set[str]:
    return {*inspect.signature(Runner.__init__).parameters, *_TOP_LEVEL} - {'self', 'cfg'}


def _classes(kind: Any) -> list[type]:
    """The classes that a ``type`` may mean: one name can be in several registries."""
    if not isinstance(kind, str):
        return [kind] if isinstance(kind, type) else []
    found = []
    for place in _REGISTRIES:
        try:
            entry = place.get(kind)
        except RuntimeError:  # how the official MMEngine and OneDL's say that there is none
            continue
        if entry is not None and entry not in found:
            found.append(entry)
    # A function is built too, by its own arguments, but what becomes of them is not known.
    return found if all(isinstance(entry, type) for entry in found) else []


def _sentence(name: str, depth: int, known: set[str]) -> str:
    parts = name.split('.')
    place = '.'.join(parts[:depth]) or 'the config'
    near = closest(parts[depth], known)
    hint = f' to {".".join([*parts[:depth], near, *parts[depth + 1 :]])}' if near else ''
    return (
        f'--cfg-options sets {name}, but {place} has no {parts[depth]!r} and nothing reads one; '
        f'correct the name{hint}, or leave it out'
    )
