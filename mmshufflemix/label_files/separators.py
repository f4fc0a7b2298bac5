"""Divide a cell of several class names."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mmshufflemix.label_files.cell_values import (
    SEPARATORS,
    check_no_flags,
    is_number,
    looks_like_list,
    read_list,
)
from mmshufflemix.label_files.table import unique
from mmshufflemix.text import some

__all__ = ['split_names']


def split_names(
    cells: Sequence[str], separator: str | None = None, known: Collection[str] = ()
) -> tuple[list[tuple[str, ...]], str]:
    """Divide cells into class names.

    Args:
        cells: One for each picture; a blank one has no names.
        separator: What divides them. None takes the first of ``;``, ``|`` and ``,`` that occurs
            in any cell that is no known name, or spaces between numbers. ``space`` stands for any
            spaces. Where each cell is a list of Python or JSON, its items are the names.
        known: The class names, where they are given: a cell that is one of them is not divided.

    Returns:
        The names of each cell, and how they were divided.

    Raises:
        ValueError: If there is only space between words that ``known`` does not explain, only
            some cells are lists, or all have as many values of 0 and 1.
    """
    open_cells = [cell for cell in cells if cell.strip() and cell not in known]
    lists = {cell: items for cell in open_cells if (items := read_list(cell)) is not None}
    if lists and len(lists) == len(set(open_cells)):
        check_no_flags([lists[cell] for cell in open_cells])
        return [unique(lists.get(cell, [cell])) for cell in cells], 'read as lists'
    odd = next((cell for cell in open_cells if looks_like_list(cell)), None)
    if odd and not separator:
        other = next(cell for cell in open_cells if cell not in lists)
        raise ValueError(
            f'{odd!r} looks like a list, but not all cells are lists of quoted names (see '
            f'{other!r}); write all as cat;dog, or choose --separator'
        )
    sign = separator or next((s for s in SEPARATORS if any(s in cell for cell in open_cells)), '')
    if not sign:
        sign = _space_or_none(open_cells, known)
    spaces = sign.isspace() or sign == 'space'
    words = [[cell] if cell in known else cell.split(None if spaces else sign) for cell in cells]
    words = [[word.strip() for word in found if word.strip()] for found in words]
    check_no_flags(words)
    names = [unique(found) for found in words]
    if all(len(found) < 2 for found in names):
        return names, 'at most one in each cell'
    if spaces:
        return names, 'divided by spaces'
    uncut = {name for found in names for name in found if any(s in name for s in SEPARATORS)}
    whole = f'; with another sign in it: {some(map(repr, sorted(uncut)), 3)}' if uncut else ''
    return names, f'divided by {sign!r}{whole}'


def _space_or_none(cells: Sequence[str], known: Collection[str]) -> str:
    """Tell whether spaces divide names; without a list of the names only numbers say so."""
    several = [cell for cell in cells if len(cell.split()) > 1]
    if not several or all(word in known for cell in several for word in cell.split()):
        return 'space' if several else SEPARATORS[0]
    words = {word for cell in cells for word in cell.split()}
    if all(map(is_number, words)):
        return 'space'
    whole = set(unique(cells))
    first = several[0]
    raise ValueError(
        f'the names have only spaces between them, so {first!r} may be one class or '
        f'{len(first.split())}; choose --separator ";" to keep it whole ({_count(whole)}) or '
        f'--separator space to divide it ({_count(words)})'
    )


def _count(names: Collection[str]) -> str:
    return f'{len(names)} {"class" if len(names) == 1 else "classes"}: {some(sorted(names), 4)}'
