"""The names of the classes of a data set, as its metadata give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mmshufflemix.text import repeated, some

__all__ = [
    'check_class_names',
    'dataset_classes',
    'listed_classes',
    'names_or_numbers',
    'require_classes',
]


def check_class_names(classes: Any) -> tuple[str, ...]:
    """Return the class names as a tuple.

    Raises:
        TypeError: If ``classes`` is not a sequence of strings.
        ValueError: If it is empty or repeats a name.
    """
    if isinstance(classes, str) or not isinstance(classes, Sequence):
        raise TypeError(
            f'classes must be a list of names or an existing file with one name a line, got '
            f'{classes!r}'
        )
    if not all(isinstance(name, str) for name in classes):
        raise TypeError(f'classes must be strings, got {some(classes)}')
    twice = repeated(classes)
    if twice or not classes:
        raise ValueError(
            f'classes must be distinct names and at least one, got {len(classes)} with '
            f'{some(twice) or "none"} repeated'
        )
    return tuple(classes)


def listed_classes(metainfo: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the class names in the metadata of a data set; none where it names none."""
    classes = (metainfo or {}).get('classes')
    # An array has no truth value.
    return () if classes is None else tuple(classes)


def names_or_numbers(metainfo: Mapping[str, Any] | None, count: int) -> tuple[str, ...]:
    """Return the class names in the metadata, or the numbers of ``count`` classes without names."""
    return listed_classes(metainfo) or tuple(map(str, range(count)))


def dataset_classes(dataset: Any) -> tuple[str, ...]:
    """Return the class names of a data set; none where it names none, or is of another kind."""
    return listed_classes(getattr(dataset, 'metainfo', None))


def require_classes(dataset: Any, user: str) -> tuple[str, ...]:
    """Return the class names of a data set for one that cannot do without.

    Args:
        dataset: The data set.
        user: What needs them.

    Raises:
        ValueError: If it names none.
    """
    classes = dataset_classes(dataset)
    if not classes:
        raise ValueError(
            f'the dataset {type(dataset).__name__} names no classes, which {user} needs; '
            'set metainfo=dict(classes=(...)) in its config'
        )
    return classes
