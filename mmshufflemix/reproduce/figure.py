"""Draw the curves of a table: ours with error bars, the paper's dashed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from mmshufflemix.pictures import save_figure
from mmshufflemix.reproduce.curves import Panel

__all__ = ['draw_panels']

_STYLE: Any = {
    'font.size': 8,
    'axes.titlesize': 8,
    'axes.linewidth': 0.6,
    'legend.fontsize': 7,
    'lines.linewidth': 1.0,
}
_MARKERS = 'os^Dv*'  # told apart without colours too
_MARKED = 10  # points of a long curve that get a marker and a bar, about
_PANEL_WIDTH, _PANEL_HEIGHT = 3.3, 2.3


def draw_panels(path: Path, panels: Sequence[Panel], remarks: Sequence[str] = ()) -> None:
    """Draw panels below each other, as wide as a column of a paper, with one legend.

    Args:
        path: Picture to write (.png, .pdf, .svg).
        panels: From the top; all have the same curves.
        remarks: Put above the panels, such as that the training was shortened.
    """
    names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
    with rc_context(_STYLE):
        height = _PANEL_HEIGHT * len(panels) + 0.17 * (len(names) // 2 + 2)
        figure = Figure(figsize=(_PANEL_WIDTH, height), layout='constrained')
        grid = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
        for axes, panel in zip(grid, panels, strict=True):
            _draw(axes, panel, names)
        figure.legend(handles=_legend(names, panels), loc='outside lower center', ncols=2)
        if remarks:
            figure.suptitle('\n'.join(remarks), fontsize=7, wrap=True)
        save_figure(figure, path, dpi=300)


def _draw(axes: Axes, panel: Panel, names: Sequence[str]) -> None:
    for name, curve in panel.curves.items():
        index = names.index(name)
        colour = f'C{index}'
        if curve.paper:
            x, y = zip(*curve.paper, strict=True)
            axes.plot(x, y, color=colour, linestyle='--', linewidth=0.8, alpha=0.8)
        if curve.ours:
            x, y, spread = zip(*curve.ours, strict=True)
            axes.errorbar(
                x,
                y,
                spread,
                color=colour,
                marker=_marker(index),
                markersize=3.5,
                markevery=max(1, len(x) // _MARKED),
                errorevery=max(1, len(x) // _MARKED),
                elinewidth=0.7,
                capsize=1.5,
            )
    if panel.log_x:
        places = sorted({point[0] for curve in panel.curves.values() for point in curve.paper})
        axes.set_xscale('log', base=2)
        axes.set_xticks(places, [f'{place:g}' for place in places])
    axes.set_title(panel.title)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    axes.grid(linewidth=0.3, alpha=0.6)


def _legend(names: Sequence[str], panels: Sequence[Panel]) -> list[Line2D]:
    handles = [
        Line2D([], [], color=f'C{index}', marker=_marker(index), markersize=3.5, label=name)
        for index, name in enumerate(names)
    ]
    if any(curve.paper for panel in panels for curve in panel.curves.values()):
        handles.append(Line2D([], [], color='0.3', linestyle='--', label="dashed: the paper's"))
    return handles


def _marker(index: int) -> str:
    return _MARKERS[index % len(_MARKERS)]
