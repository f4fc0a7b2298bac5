"""Draw pictures with the labels that a model found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import mmcv
import numpy as np
from matplotlib.figure import Figure

from mmshufflemix.pictures import save_figure
from mmshufflemix.text import printable, shorten

__all__ = ['draw_result', 'drawing_files']

_MAX_LINES = 12
_NAME_WIDTH = 30
_COLOUR = '#1f6feb'


def drawing_files(folder: str | Path, pictures: Sequence[str]) -> list[Path]:
    """Name a PNG file in a folder for each picture, by its name, numbered where names repeat."""
    used: set[str] = set()
    files = []
    for picture in pictures:
        stem = name = PurePath(picture).stem or 'picture'
        number = 1
        while name in used:
            number += 1
            name = f'{stem}_{number}'
        used.add(name)
        files.append(Path(folder) / f'{name}.png')
    return files


def draw_result(path: str | Path, picture: str | np.ndarray, result: Mapping[str, Any]) -> None:
    """Draw a picture with its labels beside it: a bar as long as the score, name and score.

    Args:
        path: PNG file to write.
        picture: Path, or array (H, W, 3) in the channel order BGR.
        result: ``names`` and ``scores``, by falling score; at most 12 are drawn.
    """
    image = mmcv.imread(picture)[..., ::-1]
    figure = Figure(figsize=(8.4, 4.2))
    # The picture's shape decides how much of the left it takes; it is never stretched.
    left = figure.add_axes((0.02, 0.04, 0.52, 0.92))
    left.imshow(image, aspect='equal', interpolation='antialiased')
    left.set_anchor('E')
    left.set_axis_off()
    right = figure.add_axes((0.57, 0.04, 0.41, 0.92))
    right.set(xlim=(0, 1), ylim=(_MAX_LINES, -1))
    right.set_axis_off()
    names, scores = result['names'], result['scores']
    if not names:
        right.text(0, 0, 'no class reaches its threshold', fontsize=11, color='#6e7781')
    for line, (name, score) in enumerate(zip(names[:_MAX_LINES], scores, strict=False)):
        right.barh(line + 0.38, score, height=0.14, color=_COLOUR)
        right.barh(line + 0.38, 1, height=0.14, color=_COLOUR, alpha=0.15)
        label = shorten(printable(name), _NAME_WIDTH)
        # Names may hold dollar signs, which are no formulas.
        right.text(0, line, label, fontsize=11, va='center', parse_math=False)
        right.text(1, line, f'{score:.2f}', fontsize=11, va='center', ha='right')
    if len(names) > _MAX_LINES:
        right.text(0, _MAX_LINES, f'and {len(names) - _MAX_LINES} more', va='center')
    save_figure(figure, path, dpi=110)
