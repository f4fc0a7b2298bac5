"""From the name of a picture in somebody's list to a file inside the picture folder."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from mmshufflemix.inference.sources import PICTURE_ENDINGS, find_pictures

__all__ = ['PictureFolder', 'safe_name']

_TRIED_ENDINGS = ('.jpg', '.jpeg', '.png')
_DRIVE = re.compile(r'^[A-Za-z]:')


def safe_name(name: str, where: str) -> str:
    r"""Check that a name stays inside the picture folder, and write it with ``/``.

    Windows' ``\`` is taken for ``/`` on every system, so that a list means the same everywhere.

    Raises:
        ValueError: If the name is blank, absolute, an address, contains ``..``, a drive letter or
            control characters.
    """
    path = PurePosixPath(name.strip().replace('\\', '/'))
    outside = path.is_absolute() or '..' in path.parts or '://' in name or _DRIVE.match(str(path))
    if outside or not path.name or any(ord(sign) < 32 for sign in name):
        raise ValueError(
            f'{where} names the picture {name!r}, which is no name inside the picture folder; '
            'write it relative to that folder, such as cats/1.jpg'
        )
    return str(path)


class PictureFolder:
    """The pictures in a folder and below it, listed once.

    Args:
        folder: The folder.

    Raises:
        FileNotFoundError: If it is no folder.
        ValueError: If there is no picture in it.
    """

    def __init__(self, folder: str | Path) -> None:
        if not Path(folder).is_dir():
            raise FileNotFoundError(
                f"the picture folder '{folder}' does not exist or is not a folder; set --images "
                'to the folder of the pictures'
            )
        self.folder = Path(folder)
        self.names = [
            Path(path).relative_to(self.folder).as_posix() for path in find_pictures([str(folder)])
        ]
        if not self.names:
            raise ValueError(
                f"the folder '{folder}' has no picture ({', '.join(PICTURE_ENDINGS)}); set "
                '--images to the folder of the pictures'
            )
        # An accent may be a sign of its own (macOS) or not.
        self._known = {unicodedata.normalize('NFC', name): name for name in self.names}
        self._known |= {name: name for name in self.names}
        self._by_stem = _group_by_stem(self.names)

    def find(self, name: str, where: str) -> str | None:
        """Return the relative path of the picture that a name means, or None.

        A name without the ending of a picture is also tried with .jpg, .jpeg and .png.

        Raises:
            ValueError: If the name leads out of the folder, or several endings fit.
        """
        name = safe_name(name, where)
        for form in (name, unicodedata.normalize('NFC', name)):
            if form in self._known:
                return self._known[form]
        if name.lower().endswith(PICTURE_ENDINGS):
            return None
        matches = self._by_stem.get(unicodedata.normalize('NFC', name), [])
        if len(matches) > 1:
            raise ValueError(
                f'{where} names the picture {name!r}, which could be {" or ".join(matches)}; '
                'write the ending too'
            )
        return matches[0] if matches else None


def _group_by_stem(names: Iterable[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        path = PurePosixPath(name)
        if path.suffix.lower() in _TRIED_ENDINGS:
            stem = unicodedata.normalize('NFC', str(path.with_suffix('')))
            groups[stem].append(name)
    return groups
