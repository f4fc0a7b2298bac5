"""The same picture more than once: in a split, in several, or nearly so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mmshufflemix.dataset_check.alike import first_alike
from mmshufflemix.dataset_check.findings import Fault
from mmshufflemix.dataset_check.pictures import Picture
from mmshufflemix.dataset_check.rows import Row, Split, is_training, source_key

__all__ = ['Member', 'duplicate_faults', 'exact_groups', 'near_faults', 'near_groups']


@dataclass(frozen=True)
class Member:
    """A row of a group, and its split.

    Attributes:
        split: Name of the split.
        key: Of its picture, see :func:`source_key`.
        row: The row.
    """

    split: str
    key: str
    row: Row


Group = list[Member]


def exact_groups(splits: Sequence[Split], pictures: Mapping[str, Picture]) -> list[Group]:
    """Group the rows whose pictures are one file, or have the same decoded pixels.

    Args:
        splits: In the order in which groups name their rows.
        pictures: What is known of them; without, files are told apart by their paths, and so are
            pictures of one colour, which say nothing.

    Returns:
        Groups of at least two rows.
    """
    groups: dict[str, Group] = {}
    for member in _members(splits):
        picture = pictures.get(member.key)
        key = picture.digest if picture and not picture.flat else ''
        groups.setdefault(key or member.key, []).append(member)
    return [group for group in groups.values() if len(group) > 1]


def duplicate_faults(groups: Sequence[Group]) -> Iterator[Fault]:
    """Tell what each group of equal pictures means for training and for testing."""
    for group in groups:
        by_split: dict[str, Group] = {}
        for member in group:
            by_split.setdefault(member.split, []).append(member)
        for split, members in by_split.items():
            if len(members) > 1:
                yield Fault(_kind_within(members), split, _equation(members))
        if len(by_split) > 1:
            leak = any(is_training(split) for split in by_split)
            firsts = [members[0] for members in by_split.values()]
            kind = 'leak' if leak else 'shared'
            yield Fault(kind, ', '.join(by_split), _equation(firsts, with_split=True))


def near_groups(splits: Sequence[Split], pictures: Mapping[str, Picture]) -> list[Group]:
    """Group pictures that look alike; of equal ones in a split the first stands for all.

    See :func:`first_alike`. Equal pictures are left out unless others look like them.
    """
    members: Group = []
    copies: list[np.ndarray] = []
    seen: set[str] = set()
    for member in _members(splits):
        picture = pictures.get(member.key)
        if picture and picture.small is not None and picture.digest not in seen:
            seen.add(picture.digest)
            members.append(member)
            copies.append(picture.small)
    if not members:
        return []
    first = first_alike(np.stack(copies))
    groups: dict[int, Group] = {}
    roots: list[int] = []
    for index, (member, earlier) in enumerate(zip(members, first.tolist(), strict=True)):
        roots.append(index if earlier == index else roots[earlier])
        groups.setdefault(roots[-1], []).append(member)
    return [group for group in groups.values() if len(group) > 1]


def near_faults(groups: Sequence[Group]) -> Iterator[Fault]:
    """Tell whether each group of pictures that look alike lies in one split."""
    for group in groups:
        names = list(dict.fromkeys(member.split for member in group))
        kind = 'near-duplicate' if len(names) == 1 else 'near-leak'
        yield Fault(kind, ', '.join(names), _equation(group, with_split=len(names) > 1, sign='~'))


def _members(splits: Sequence[Split]) -> Iterator[Member]:
    for split in splits:
        for index, row in enumerate(split.rows):
            yield Member(split.name, source_key(split.name, index, row.source), row)


def _kind_within(members: Group) -> str:
    if len({member.row.labels for member in members if not member.row.doubtful}) > 1:
        return 'contradiction'
    return 'repeated-row' if len({member.key for member in members}) == 1 else 'duplicate'


def _equation(members: Group, with_split: bool = False, sign: str = '=') -> str:
    names = [f'{m.split} {m.row.name}' if with_split else m.row.name for m in members]
    more = f' and {len(names) - 4} more' if len(names) > 4 else ''
    return f' {sign} '.join(names[:4]) + more
