"""Labels of one row, wrong ones noted and left out."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Sequence
from typing import Any

from mmshufflemix.class_names import check_class_names
from mmshufflemix.text import some

__all__ = ['check_ids', 'class_list', 'tolerant_labels']

Note = tuple[str, str]
"""Kind of a fault and what is the matter."""


def tolerant_labels(value: Any, classes: Sequence[str]) -> tuple[tuple[int, ...], list[Note]]:
    """Read a row's labels as ``MultiLabelJSON`` would, but note faults and keep what is right.

    Args:
        value: A list of class ids or of class names.
        classes: The K class names.

    Returns:
        The right ids, sorted, each once, and the faults.
    """
    if not isinstance(value, list):
        return (), [('bad-labels', reprlib.repr(value))]
    if value and all(isinstance(item, str) for item in value):
        notes = [('unknown-label', repr(name)) for name in _once(value) if name not in classes]
        if len(set(value)) < len(value):
            notes.append(('repeated-name', some(value)))
        known = {classes.index(name) for name in value if name in classes}
        return tuple(sorted(known)), notes
    if not all(type(item) is int for item in value):
        return (), [('bad-labels', some(value))]
    if len(value) == len(classes) > 1 and set(value) <= {0, 1} and value != [0, 1]:
        return (), [('one-hot', some(value))]
    return check_ids(value, len(classes))


def check_ids(value: Sequence[int], num_classes: int) -> tuple[tuple[int, ...], list[Note]]:
    """Keep the class ids in 0..K-1, sorted, each once, and note the others and repeated ones."""
    notes = [('out-of-range', str(label)) for label in _once(value) if not 0 <= label < num_classes]
    if len(set(value)) < len(value):
        notes.append(('repeated-id', some(value)))
    return tuple(sorted({label for label in value if 0 <= label < num_classes})), notes


def class_list(listed: Any) -> tuple[tuple[str, ...], list[Note]]:
    """Take class names from a file; where they are malformed, what can be used of them."""
    try:
        return check_class_names(listed), []
    except (TypeError, ValueError) as error:
        names = listed if isinstance(listed, list) else []
        return tuple(map(str, names)), [('bad-classes', str(error))]


def _once(items: Sequence[Any]) -> Iterator[Any]:
    return iter(dict.fromkeys(items))
