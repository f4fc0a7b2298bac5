"""Meta information of all images, kept such that that of a batch is quickly put together."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ['MetaTable', 'arrange_meta']

_UNCHANGEABLE = (str, bytes, int, float, complex, np.generic, type(None))


@dataclass(frozen=True)
class MetaTable:
    """Meta information of N images.

    Attributes:
        common: What all images share.
        columns: What differs, a list of N values by name.
        own: What is copied for each sample, or not all images have: N dicts, or none at all.
    """

    common: dict[str, Any]
    columns: dict[str, list[Any]]
    own: list[dict[str, Any]]

    def without(self, names: Iterable[str]) -> MetaTable:
        """Return the table without some of the names."""
        own = [_without(row, names) for row in self.own]
        return MetaTable(
            _without(self.common, names), _without(self.columns, names), own if any(own) else []
        )


def arrange_meta(rows: Sequence[Mapping[str, Any]]) -> MetaTable:
    """Sort the meta information of images by what is to be done for a sample.

    Args:
        rows: That of each image, at least one.
    """
    columns = {
        name: [row[name] for row in rows]
        for name in rows[0]
        if all(name in row and _is_unchangeable(row[name]) for row in rows)
    }
    common = {name: column[0] for name, column in columns.items() if _all_equal(column)}
    own = [_without(row, columns) for row in rows]
    return MetaTable(common, _without(columns, common), own if any(own) else [])


def _without(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _is_unchangeable(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_unchangeable, value))
    return isinstance(value, _UNCHANGEABLE)


def _all_equal(column: Sequence[Any]) -> bool:
    # sample_idx of a set of one image is not common to all of a longer one. 1 and 1.0 are equal,
    # but not their bytes.
    first = pickle.dumps(column[0])
    return len(column) > 1 and all(pickle.dumps(value) == first for value in column)
