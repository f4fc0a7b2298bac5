"""Divide a cell of several class names."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mmshufflemix.label_files.table import unique
from mmshufflemix.text import some

__all__ = ['SEPARATORS', 'split_names']

SEPARATORS = (';', '|', ',')


def split_names(
    cells: Sequence[str], separator: str | None = None, known: Collection[str] = ()
) -> tuple[list[tuple[str, ...]], str]:
    """Divide cells into class names.

    Args:
        cells: One for each picture; a blank one has no names.
        separator: What divides them. None takes the first of ``;``, ``|`` and ``,`` that occurs
            in any cell that is no known name. ``space`` stands for any spaces.
        known: The class names, where they are given: a cell that is one of them is not divided.

    Returns:
        The names of each cell, and how they were divided.

    Raises:
        ValueError: If there is only space between words that ``known`` does not explain.
    """
    open_cells = [cell for cell in cells if cell not in known]
    sign = separator or next((s for s in SEPARATORS if any(s in cell for cell in open_cells)), '')
    if not sign:
        sign = _space_or_none(open_cells, known)
    spaces = sign.isspace() or sign == 'space'
    names = [
        unique([cell] if cell in known else cell.split(None if spaces else sign)) for cell in cells
    ]
    if all(len(found) < 2 for found in names):
        return names, 'at most one in each cell'
    if spaces:
        return names, 'divided by spaces'
    uncut = {name for found in names for name in found if any(s in name for s in SEPARATORS)}
    whole = f'; with another sign in it: {some(map(repr, sorted(uncut)), 3)}' if uncut else ''
    return names, f'divided by {sign!r}{whole}'


def _space_or_none(cells: Sequence[str], known: Collection[str]) -> str:
    """Tell whether spaces divide names; without a list of the names nothing in a file can."""
    several = [cell for cell in cells if len(cell.split()) > 1]
    if not several or all(word in known for cell in several for word in cell.split()):
        return 'space' if several else SEPARATORS[0]
    words = {word for cell in cells for word in cell.split()}
    whole = set(unique(cells))
    first = several[0]
    raise ValueError(
        f'the names have only spaces between them, so {first!r} may be one class or '
        f'{len(first.split())}; choose --separator ";" to keep it whole ({_count(whole)}) or '
        f'--separator space to divide it ({_count(words)})'
    )


def _count(names: Collection[str]) -> str:
    return f'{len(names)} {"class" if len(names) == 1 else "classes"}: {some(sorted(names), 4)}'
