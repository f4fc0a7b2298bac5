"""The figure: one row of panels a set, one panel a method."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from mmshufflemix.decision_boundary.methods import METHODS
from mmshufflemix.decision_boundary.network import probabilities
from mmshufflemix.decision_boundary.study import Outcome
from mmshufflemix.pictures import check_picture_file, save_figure

__all__ = ['draw_boundaries', 'shade']

# Blue, vermilion and green of Okabe and Ito, which colour-blind readers can tell apart.
_COLOURS = ('#0072B2', '#D55E00', '#009E73')
_MARKERS = ('o', '^', 's')
_DARKEST = 0.7
_PIXELS = 160
# Sizes in inches, and in points.
_PANEL = 1.1
_KEY = 0.36
_LEAST_WIDTH = 4.2
_TEXT = 6.5


def shade(probability: np.ndarray) -> np.ndarray:
    """Colours of class probabilities: the class gives the colour, its probability the darkness.

    Args:
        probability: Probabilities (..., K) of at most three classes.

    Returns:
        RGB (..., 3) in [0, 1]: white where all classes are equally probable.
    """
    num_classes = probability.shape[-1]
    colours = np.array([to_rgb(colour) for colour in _COLOURS[:num_classes]])
    chance = 1 / num_classes
    certainty = (probability.max(axis=-1, keepdims=True) - chance) / (1 - chance)
    return 1 - _DARKEST * certainty * (1 - colours[probability.argmax(axis=-1)])


def draw_boundaries(path: str | Path, outcomes: Sequence[Outcome]) -> None:
    """Draw what each network makes of the plane, with its training points and test accuracy.

    Args:
        path: Picture to write; its ending (.png, .pdf, .svg) decides the format.
        outcomes: Trainings with one seed; those without a network are left out.

    Raises:
        ValueError: If the ending is no format that can be written.
    """
    check_picture_file(path)
    shown = [outcome for outcome in outcomes if outcome.model is not None]
    counts = list(dict.fromkeys(outcome.num_classes for outcome in shown))
    rows = [[o for o in shown if o.num_classes == count] for count in counts]
    columns = max(map(len, rows))
    width, height = max(0.4 + _PANEL * columns, _LEAST_WIDTH), _KEY + (_PANEL + 0.28) * len(rows)
    layout = ConstrainedLayoutEngine(rect=(0, _KEY / height, 1, 1 - _KEY / height))
    figure = Figure(figsize=(width, height), layout=layout)
    grid = figure.subplots(len(rows), columns, squeeze=False, sharex=True, sharey=True)
    reach = 0.1 + max(o.train.points.abs().max().item() for o in shown)
    for panels, row in zip(grid, rows, strict=True):
        for axes, outcome in zip(panels, row, strict=True):
            _draw_panel(axes, outcome, reach)
        panels[0].set_ylabel(f'{row[0].num_classes} classes', fontsize=_TEXT + 0.5)
    _draw_key(figure, max(counts), f'%: test accuracy\nseed {shown[0].seed}')
    save_figure(figure, path, dpi=200)


def _draw_panel(axes: Axes, outcome: Outcome, reach: float) -> None:
    ticks = torch.linspace(-reach, reach, _PIXELS)
    plane = torch.cartesian_prod(ticks, ticks).flip(1)
    probability = probabilities(outcome.model, plane).numpy().reshape(_PIXELS, _PIXELS, -1)
    axes.imshow(shade(probability), extent=(-reach, reach, -reach, reach), origin='lower')
    for label in range(outcome.num_classes):
        others = np.delete(probability, label, axis=-1).max(axis=-1)
        lead = probability[..., label] - others
        if lead.min() < 0 < lead.max():
            axes.contour(ticks, ticks, lead, levels=[0], colors='k', linewidths=0.6)
        points = outcome.train.points[outcome.train.labels == label]
        axes.scatter(
            points[:, 0],
            points[:, 1],
            s=5,
            c=_COLOURS[label],
            marker=_MARKERS[label],
            edgecolors='white',
            linewidths=0.3,
            zorder=3,
        )
    axes.set(xticks=(-1, 0, 1), yticks=(-1, 0, 1), aspect='equal')
    axes.tick_params(labelsize=_TEXT - 1, length=1.5, width=0.5, pad=1.5)
    axes.set_title(
        f'{METHODS[outcome.method].title}\n{outcome.test_accuracy:.1f} %', fontsize=_TEXT, pad=2.5
    )


def _draw_key(figure: Figure, num_classes: int, note: str) -> None:
    """Explain colours, darkness and percentages below the panels."""
    width, height = figure.get_size_inches()
    handles = [
        Line2D([], [], marker=marker, color=colour, linestyle='', markersize=3.5, label=label)
        for label, (marker, colour) in enumerate(
            zip(_MARKERS[:num_classes], _COLOURS, strict=False), start=1
        )
    ]
    figure.legend(
        handles=handles,
        title='training points of class',
        loc='lower left',
        bbox_to_anchor=(0.1 / width, 0.02 / height),
        ncols=num_classes,
        fontsize=_TEXT,
        title_fontsize=_TEXT,
        frameon=False,
        borderpad=0,
        columnspacing=1,
        handletextpad=0,
    )
    ramp = np.linspace(0, _DARKEST, 64)[None]
    bar = figure.add_axes((1.75 / width, 0.08 / height, 1.1 / width, 0.09 / height))
    bar.set_in_layout(False)
    bar.imshow(1 - ramp, cmap='gray', vmin=0, vmax=1, aspect='auto')
    bar.set(xticks=(), yticks=())
    bar.set_title('probability: chance to 1', fontsize=_TEXT, pad=3)
    figure.text(3.2 / width, 0.08 / height, note, fontsize=_TEXT, linespacing=1.3)
