"""Find the images that must stay in one part: a group, or copies of one picture."""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mmshufflemix.text import some

__all__ = ['bundle', 'content_keys', 'group_keys']


def bundle(keys: Sequence[Iterable[Hashable]]) -> np.ndarray:
    """Number the bundles of images that are linked by common keys, directly or over others.

    Args:
        keys: For each of N images its keys.

    Returns:
        Numbers from 0, shape (N,).
    """
    numbers: dict[Hashable, int] = {}
    pairs = [
        (index, len(keys) + numbers.setdefault(key, len(numbers)))
        for index, found in enumerate(keys)
        for key in found
    ]
    size = len(keys) + len(numbers)
    if not pairs:
        return np.arange(len(keys))
    ends = np.array(pairs)
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(size, size))
    linked = connected_components(graph, directed=False)[1][: len(keys)]
    return np.unique(linked, return_inverse=True)[1]


def group_keys(names: Sequence[str], pattern: str) -> list[str]:
    """Read the group of each image from its name: what the first group of a pattern matches.

    Args:
        names: Image paths.
        pattern: Regular expression, searched for anywhere in the name. Without parentheses the
            whole match counts.

    Raises:
        ValueError: If it is no regular expression, or does not match a name.
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(
            f'--group-by {pattern!r} is not a regular expression ({error}); an example is '
            "'^([^_]+)_' for what precedes the first underline"
        ) from error
    matches = [compiled.search(name) for name in names]
    odd = [name for name, match in zip(names, matches, strict=True) if match is None]
    if odd:
        raise ValueError(
            f'--group-by {pattern!r} does not match {len(odd)} of {len(names)} names, such as '
            f"{some(odd, 3)}; add a case for them, such as '|^(.*)$'"
        )
    return [
        next((found for found in match.groups() if found is not None), match.group())
        for match in matches
        if match is not None
    ]


def content_keys(
    folder: str | Path,
    names: Sequence[str],
    progress: Callable[[list[str]], Iterable[str]] = iter,
) -> dict[str, str]:
    """Return the SHA-256 of each picture that has the size of another one; others have no copy.

    Args:
        folder: Where the names start.
        names: Image paths; those that are not there are left out.
        progress: Wraps the loop over the files to read, such as rich's ``track``.
    """
    by_size: dict[int, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            by_size[os.path.getsize(path)].append(name)
    suspects = [name for same in by_size.values() if len(same) > 1 for name in same]
    return {
        name: hashlib.sha256(Path(folder, name).read_bytes()).hexdigest()
        for name in progress(suspects)
    }
