"""Thumbnails of examples and of pictures that occur more than once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from markupsafe import Markup
from PIL import Image

from mmshufflemix.dataset_check.duplicates import Member
from mmshufflemix.dataset_check.pictures import Picture
from mmshufflemix.dataset_check.rows import Row, Split, source_key
from mmshufflemix.page import embed_picture
from mmshufflemix.text import printable, some

__all__ = ['MOST_GROUPS', 'class_examples', 'group_pictures']

_MOST_EXAMPLES = 160
MOST_GROUPS = 12
_MOST_MEMBERS = 4
_ENLARGED = 96  # pixels; smaller pictures are shown at twice or more their size

Tile = tuple[Markup, str]


def class_examples(split: Split, pictures: Mapping[str, Picture]) -> list[Tile]:
    """Show one to four pictures of each class, evenly taken from those that can be read."""
    number = min(max(_MOST_EXAMPLES // max(len(split.classes), 1), 1), 4)
    members: dict[int, list[Row]] = {}
    for index, row in enumerate(split.rows):
        picture = pictures.get(source_key(split.name, index, row.source))
        if picture and not picture.fault:
            for label in row.labels:
                members.setdefault(label, []).append(row)
    tiles: list[Tile] = []
    for label in sorted(members)[:_MOST_EXAMPLES]:
        rows = members[label]
        count = min(number, len(rows))
        for place in range(count):
            row = rows[place * len(rows) // count]
            caption = f'{split.classes[label]}\n{row.name}\n{_names(row, split.classes)}'
            tiles += _tile(row, caption)
    return tiles


def group_pictures(
    groups: Sequence[Sequence[Member]],
    pictures: Mapping[str, Picture],
    classes: Mapping[str, Sequence[str]],
) -> list[Tile]:
    """Show the first pictures of the first groups, with split, name and labels.

    Args:
        groups: What belongs together.
        pictures: What is known of them.
        classes: Class names by split.
    """
    tiles: list[Tile] = []
    for number, group in enumerate(groups[:MOST_GROUPS], start=1):
        for member in group[:_MOST_MEMBERS]:
            if pictures[member.key].fault:
                continue
            labels = _names(member.row, classes[member.split])
            caption = f'group {number}, {member.split}\n{member.row.name}\n{labels}'
            tiles += _tile(member.row, caption)
    return tiles


def _tile(row: Row, caption: str) -> Iterator[Tile]:
    text = '\n'.join(map(printable, caption.split('\n')))
    try:
        source = row.source if isinstance(row.source, str) else _enlarged(row.source)
        yield embed_picture(source, text.split('\n')[0]), text
    except OSError:
        # It was readable a moment ago; the page does without.
        return


def _enlarged(pixels: np.ndarray | None) -> Image.Image:
    image = Image.fromarray(np.asarray(pixels))
    factor = max(1, _ENLARGED // max(image.size))
    return image.resize((image.width * factor, image.height * factor), Image.Resampling.NEAREST)


def _names(row: Row, classes: Sequence[str]) -> str:
    return some((classes[label] for label in row.labels), limit=8) or 'no label'
