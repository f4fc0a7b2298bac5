"""Thumbnails of a report, only from folders that belong to the run's data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup
from PIL import Image

from mmshufflemix.page import embed_picture
from mmshufflemix.report.text import count
from mmshufflemix.text import printable, some

__all__ = ['Gallery']

# Pillow raises SyntaxError for some broken PNG files.
_UNREADABLE = (OSError, ValueError, SyntaxError, Image.DecompressionBombError)


class Gallery:
    """Embeds pictures and remembers which it could not.

    A file of predictions may come from someone else and name any file, and a report is made to be
    passed on. So only pictures below the given folders are read; links inside them are followed.

    Args:
        folders: Where pictures may be; none are read without any.
        side: Longest side of a thumbnail in pixels.
    """

    def __init__(self, folders: Sequence[str | Path], side: int = 160) -> None:
        self.folders = [Path(os.path.abspath(folder)) for folder in folders]
        self.side = side
        self._made: dict[str, Markup] = {}
        self._outside: set[str] = set()
        self._broken: set[str] = set()
        self._nameless = False

    def tile(self, path: str | None, caption: str) -> tuple[Markup, str]:
        """Return a thumbnail, empty if there is none, and its caption."""
        if path is None:
            self._nameless = True
            return Markup(), caption
        if path not in self._made:
            self._made[path] = self._embed(path)
        return self._made[path], caption

    def notes(self) -> list[str]:
        """Say which pictures are missing and why."""
        notes = []
        if self._nameless:
            notes.append(
                'The predictions name no picture files (the data set keeps its images otherwise), '
                'so that only captions are shown.'
            )
        if self._outside:
            places = some([printable(str(folder)) for folder in self.folders])
            notes.append(
                f'{count(len(self._outside), "picture")} not embedded, being outside '
                f'{places or "of any known data folder"}: {_some(self._outside)}; '
                '--pictures FOLDER names the folder they are in.'
            )
        if self._broken:
            notes.append(
                f'{count(len(self._broken), "picture")} missing or unreadable: '
                f'{_some(self._broken)}; relative paths are those of the folder where the report '
                'is made.'
            )
        return notes

    def _embed(self, path: str) -> Markup:
        # The path that was checked is the one that is opened, without `..` in it.
        place = os.path.abspath(path) if '\0' not in path else ''
        if not any(Path(place).is_relative_to(folder) for folder in self.folders):
            self._outside.add(path)
            return Markup()
        try:
            if not os.path.isfile(place):  # a pipe would be waited for
                raise FileNotFoundError(place)
            return embed_picture(place, printable(Path(place).name), self.side)
        except _UNREADABLE:
            self._broken.add(path)
            return Markup()


def _some(paths: set[str]) -> str:
    return some([printable(path) for path in sorted(paths)], limit=3)
