"""Find the pictures that a user names by files, folders and patterns."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence

from PIL import Image, UnidentifiedImageError

__all__ = ['PICTURE_ENDINGS', 'find_pictures', 'picture_fault']

PICTURE_ENDINGS = ('.bmp', '.jpeg', '.jpg', '.png', '.ppm', '.tif', '.tiff', '.webp')


def find_pictures(inputs: Sequence[str]) -> list[str]:
    """Turn files, folders and patterns into paths of pictures, in the order given.

    A folder stands for the pictures in it and below it, by their endings and sorted; a pattern
    (``*``, ``?``, ``[...]``, ``**`` for any depth) for what it matches, sorted, with folders taken
    likewise. Any other text is taken for the path of a picture, whether or not it exists.
    """
    found = []
    for name in inputs:
        if os.path.isdir(name):
            found += _pictures_below(name)
        elif os.path.exists(name) or '://' in name or not glob.has_magic(name):
            found.append(name)
        else:
            matches = sorted(glob.glob(name, recursive=True))
            folders = [match for match in matches if os.path.isdir(match)]
            # With **, a folder and what is below it match both.
            for match in matches:
                if match not in folders:
                    found.append(match)
                elif '**' not in name:
                    found += _pictures_below(match)
    return found


def picture_fault(path: str) -> str | None:
    """Say what is wrong with a picture file, or None.

    OpenCV fills up the rest of a picture that was cut off, without a word, so that it would be
    scored as if it were whole.
    """
    if '://' in path:
        return None
    if not os.path.isfile(path):
        return 'it is a folder' if os.path.isdir(path) else 'no such file'
    try:
        with Image.open(path) as image:
            image.load()
    except UnidentifiedImageError:
        # A kind that only OpenCV may know: its decoder decides.
        return None
    except Exception as error:  # a damaged file can fail in any way
        return str(error) or type(error).__name__
    return None


def _pictures_below(folder: str) -> list[str]:
    found = []
    for parent, children, files in os.walk(folder):
        children.sort()
        found += [
            os.path.join(parent, file)
            for file in sorted(files)
            if file.lower().endswith(PICTURE_ENDINGS)
        ]
    return found
