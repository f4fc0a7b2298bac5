"""A page of sections, put together by a template that escapes all text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from mmshufflemix.files import write_text

__all__ = ['Section', 'render_page', 'write_page']


@dataclass(frozen=True)
class Section:
    """One part of a page; what is empty is left out.

    Attributes:
        title: Heading, also in the list of contents.
        text: Paragraphs.
        figures: Charts, as :func:`~mmshufflemix.page.pictures.embed_figure` makes them.
        columns: Headings of the table.
        rows: Cells of the table, as they are to be read. Numbers are aligned right.
        pictures: Embedded picture and caption of each tile of a gallery.
        code: Text that is shown as it is, such as a config.
    """

    title: str
    text: Sequence[str] = ()
    figures: Sequence[Markup] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    pictures: Sequence[tuple[Markup, str]] = ()
    code: str = ''


def render_page(title: str, facts: Mapping[str, object], sections: Sequence[Section]) -> str:
    """Make a page that needs no other file and no script.

    Args:
        title: Title and first heading.
        facts: Short facts below it, by name.
        sections: The rest.

    Returns:
        HTML in which every text is escaped.
    """
    return _TEMPLATES.get_template('page.html').render(
        title=title, facts=facts, sections=sections, is_number=_is_number
    )


def write_page(
    path: str | Path, title: str, facts: Mapping[str, object], sections: Sequence[Section]
) -> None:
    """Write what :func:`render_page` makes, under a temporary name first."""
    write_text(path, render_page(title, facts, sections))


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None


_NUMBER = re.compile(r'[+-]?[\d.,]+( ?%)?|\u2013')  # or a dash, where there is none
_TEMPLATES = Environment(
    loader=PackageLoader('mmshufflemix.page', 'templates'),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
