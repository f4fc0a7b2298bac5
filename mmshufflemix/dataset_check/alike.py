"""Near duplicates by a difference hash."""

from __future__ import annotations

import numpy as np

__all__ = ['difference_hash', 'first_alike', 'is_plain']

MOST_BITS = 6
MOST_DISTANCE = 15.0
_LEAST_CONTRAST = 16
_BLOCK = 256


def difference_hash(small: np.ndarray) -> np.ndarray:
    """Tell for each pixel of small copies whether its right neighbour is lighter.

    Args:
        small: Small copies (N, 8, 9, 3), uint8.

    Returns:
        The 64 bits of each, booleans (N, 64).
    """
    grey = small.astype(np.int32) @ np.array([299, 587, 114])
    return (grey[:, :, 1:] > grey[:, :, :-1]).reshape(len(small), -1)


def is_plain(small: np.ndarray) -> np.ndarray:
    """Tell which small copies have too little contrast for their hash to mean anything, (N,)."""
    grey = small.astype(np.int32) @ np.array([299, 587, 114]) // 1000
    return np.ptp(grey.reshape(len(small), -1), axis=1) < _LEAST_CONTRAST


def first_alike(small: np.ndarray) -> np.ndarray:
    """Find for every picture the first one before it that looks alike.

    Two pictures look alike if their hashes differ in at most 6 of 64 bits and their small copies by
    at most 15 of 255 (root mean square); plain ones look like none. The number of bits comes from a
    product of matrices of +1 and -1.

    Args:
        small: Small copies (N, 8, 9, 3), uint8, at least one.

    Returns:
        Indices (N,); a picture without an earlier one has its own.
    """
    signs = np.where(difference_hash(small), 1.0, -1.0).astype(np.float32)
    signs[is_plain(small)] = 0
    colours = small.reshape(len(small), -1).astype(np.float32) - 128
    squares = (colours**2).sum(axis=1)
    limit = MOST_DISTANCE**2 * colours.shape[1]
    first = np.arange(len(small))
    for start in range(0, len(small), _BLOCK):
        stop = min(start + _BLOCK, len(small))
        alike = signs[start:stop] @ signs[:stop].T >= 64 - 2 * MOST_BITS
        alike &= np.arange(stop) < np.arange(start, stop)[:, None]
        rows, columns = np.flatnonzero(alike.any(axis=1)), np.flatnonzero(alike.any(axis=0))
        if not len(rows):
            continue
        chosen = start + rows
        distance = (
            squares[chosen, None] + squares[columns] - 2 * colours[chosen] @ colours[columns].T
        )
        close = alike[np.ix_(rows, columns)] & (distance <= limit)
        has = close.any(axis=1)
        first[chosen[has]] = columns[close[has].argmax(axis=1)]
    return first
