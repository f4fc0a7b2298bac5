"""How far a measurement is, where somebody looks."""

from __future__ import annotations

import sys

__all__ = ['show_progress']


def show_progress(name: str, done: int, total: int) -> None:
    """Write ``pair DONE of TOTAL`` over the last line of a terminal."""
    if sys.stderr.isatty():
        print(f'\r{name:20s} pair {done} of {total}', end='', file=sys.stderr, flush=True)
