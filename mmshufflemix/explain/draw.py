"""Draw a picture and the heat maps of its classes side by side."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from mmshufflemix.explain.heat_maps import HeatMaps
from mmshufflemix.pictures import save_figure
from mmshufflemix.text import printable, shorten

__all__ = ['MAX_SIDE', 'draw_heat_maps']

MAX_SIDE = 640
_COLUMNS = 3
_PANEL = 3.0
_TITLE = 0.45
_NOTE = 0.3
_MARGIN = 0.08
_NAME_WIDTH = 26
_STRENGTH = 0.7


def draw_heat_maps(path: str | Path, heat: HeatMaps, method: str, asked: bool = False) -> None:
    """Draw the picture and a panel for each class, three in a row.

    The stronger the heat, the more it covers the picture; a dashed line surrounds the part that the
    network sees where that is not all.

    Args:
        path: PNG file to write.
        heat: What to draw.
        method: Its name, for the note.
        asked: Whether the classes were asked for, predicted or not.
    """
    count = 1 + len(heat.names)
    columns = min(_COLUMNS, count)
    rows = math.ceil(count / columns)
    panel = _panel_size(heat.picture)
    width = columns * (panel[0] + _MARGIN) + _MARGIN
    height = rows * (panel[1] + _TITLE) + _NOTE * (2 if heat.unknown else 1)
    figure = Figure(figsize=(width, height))
    for index in range(count):
        row, column = divmod(index, columns)
        left = _MARGIN + column * (panel[0] + _MARGIN)
        bottom = height - (row + 1) * (panel[1] + _TITLE)
        axes = figure.add_axes((left / width, bottom / height, panel[0] / width, panel[1] / height))
        axes.imshow(heat.picture, aspect='equal', interpolation='antialiased')
        axes.set_axis_off()
        if index == 0:
            _title(axes, 'network input' if heat.unknown else 'picture')
        else:
            _draw_class(axes, heat, index - 1, asked)
        _outline(axes, heat)
    figure.text(_MARGIN / width, 0.08 / height, _note(heat, method), fontsize=7, parse_math=False)
    save_figure(figure, path, dpi=110)


def _draw_class(axes: Axes, heat: HeatMaps, index: int, asked: bool) -> None:
    values = heat.maps[index]
    axes.imshow(values, cmap='turbo', vmin=0, vmax=1, alpha=_STRENGTH * np.sqrt(values))
    name = shorten(printable(heat.names[index]), _NAME_WIDTH)
    remarks = []
    if not heat.reached[index]:
        remarks.append(f'{"not predicted" if asked else "highest"}, below its threshold')
    elif asked:
        remarks.append('predicted')
    if not values.any():
        remarks.append('nothing speaks for it')
    _title(axes, f'{name}  {heat.scores[index]:.2f}', ', '.join(remarks))


def _title(axes: Axes, text: str, remark: str = '') -> None:
    # Names may hold dollar signs, which are no formulas.
    axes.set_title(text, fontsize=10, pad=14 if remark else 4, parse_math=False)
    if remark:
        axes.annotate(
            remark, (0.5, 1), (0, 3), xycoords='axes fraction', textcoords='offset points',
            ha='center', fontsize=7.5, color='#b35900',
        )  # fmt: skip


def _outline(axes: Axes, heat: HeatMaps) -> None:
    left, top, right, bottom = heat.seen
    height, width = heat.picture.shape[:2]
    if right - left < width - 0.5 or bottom - top < height - 0.5:
        corner = (left - 0.5, top - 0.5)
        dashed = Rectangle(corner, right - left, bottom - top, fill=False, linestyle='--')
        dashed.set(edgecolor='white', linewidth=1.2)
        axes.add_patch(dashed)


def _note(heat: HeatMaps, method: str) -> str:
    where = f'{heat.layer.name} ({heat.grid[0]} x {heat.grid[1]} positions)'
    note = f'{method} at {where}; each map has its own scale'
    if heat.unknown:
        note = f"{note}\nover the network's input because of {', '.join(heat.unknown)}"
    return note


def _panel_size(picture: np.ndarray) -> tuple[float, float]:
    """Width and height in inches of a panel for a picture; slim ones get a wider panel."""
    height, width = picture.shape[:2]
    scale = _PANEL / max(height, width)
    return max(width * scale, 0.8 * _PANEL), max(height * scale, 0.3)
