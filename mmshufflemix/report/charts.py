"""The charts of a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from sklearn.calibration import calibration_curve

from mmshufflemix.page import embed_figure
from mmshufflemix.report.history import History, Points
from mmshufflemix.text import printable, shorten

__all__ = ['draw_bars', 'draw_calibration', 'draw_confusions', 'draw_curves', 'draw_histograms']

# Letters stay letters, which the browser draws in any script; `$` in a class name is no formula.
_STYLE: Any = {
    'svg.fonttype': 'none',
    'text.parse_math': False,
    'font.size': 9,
    'axes.titlesize': 9,
    'axes.grid': True,
    'axes.axisbelow': True,
    'grid.alpha': 0.3,
}
_NEGATIVE, _POSITIVE = '#8a94a6', '#1b57b5'
_MAX_BARS = 60
_MAX_NAMED = 30

Curve = tuple[str, Points, dict[str, Any]]


def draw_curves(history: History, measure: str | None) -> list[Markup]:
    """Draw loss, learning rate and the main measure of the validations, those that were logged."""
    losses: list[Curve] = [
        ('logged steps', history.steps('loss'), {'color': _NEGATIVE, 'linewidth': 0.7}),
        ('mean of the epoch', history.epoch_means('loss'), {'color': _POSITIVE, 'marker': '.'}),
        *(
            ('validation', history.measured(key), {'color': 'C1', 'marker': '.'})
            for key in ('val/loss', 'loss')
        ),
    ]
    rates: list[Curve] = [('', history.rates(), {'color': _POSITIVE})]
    points = history.measured(measure) if measure else []
    best = history.best(measure) if measure else None
    measured: list[Curve] = [('', points, {'color': _POSITIVE, 'marker': '.'})]
    if best:
        circle = {'color': 'C1', 'marker': 'o', 'fillstyle': 'none', 'linestyle': 'none'}
        measured.append((f'best {best[1]:.2f}', [best], circle))
    panels = {'loss': losses, 'learning rate': rates, f'validation: {measure}': measured}
    return [
        _panel(title, curves, history)
        for title, curves in panels.items()
        if any(points for _, points, _ in curves)
    ]


def draw_bars(names: Sequence[str], values: Sequence[float], measure: str) -> Markup:
    """Draw values in percent, the first at the top; of many, the first 60 only."""
    names, values = _labels(names)[:_MAX_BARS], values[:_MAX_BARS]
    with rc_context(_STYLE):
        figure = Figure(figsize=(7, 0.7 + 0.19 * len(names)), layout='constrained')
        axes = figure.subplots()
        bars = axes.barh(range(len(names)), values, color=_POSITIVE, height=0.75)
        axes.bar_label(bars, [f'{value:.1f}' for value in values], padding=3, fontsize=7)
        axes.set_yticks(range(len(names)), names)
        axes.set(xlabel=f'{measure} (%)', xlim=(0, 107), ylim=(len(names) - 0.4, -0.6))
        axes.grid(visible=False, axis='y')
        return embed_figure(figure, f'{measure} by class')


def draw_histograms(
    names: Sequence[str], negatives: Sequence[np.ndarray], positives: Sequence[np.ndarray]
) -> Markup:
    """Draw how the scores of negatives and of positives spread, a panel for each class."""
    columns = min(5, len(names))
    rows = math.ceil(len(names) / columns)
    edges = np.linspace(0, 1, 21)
    with rc_context({**_STYLE, 'axes.grid': False}):
        figure = Figure(figsize=(2 * columns, 1.35 * rows + 0.4), layout='constrained')
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True)
        for axes in grid.flat[len(names) :]:
            axes.set_axis_off()
        cells = zip(grid.flat, _labels(names), negatives, positives, strict=False)
        for axes, name, low, high in cells:
            for scores, colour in ((low, _NEGATIVE), (high, _POSITIVE)):
                share = np.full(len(scores), 1 / max(1, len(scores)))
                axes.hist(np.clip(scores, 0, 1), edges, weights=share, color=colour, alpha=0.65)
            axes.set_title(name, fontsize=8)
            axes.set_xticks([0, 0.5, 1], ['0', '0.5', '1'])
            axes.set_yticks([])
        handles = [_patch(_NEGATIVE, 'negatives'), _patch(_POSITIVE, 'positives')]
        figure.legend(handles=handles, loc='outside upper right', ncols=2, fontsize=7)
        return embed_figure(figure, 'Scores of negatives and positives by class')


def draw_calibration(scores: np.ndarray, right: np.ndarray) -> Markup:
    """Draw how often predictions of a score are right, in ten equal intervals of the score.

    Args:
        scores: Any shape, clipped to 0..1.
        right: Booleans of that shape.
    """
    scores = np.clip(scores.ravel(), 0, 1)
    found, mean = calibration_curve(right.ravel(), scores, n_bins=10)
    with rc_context(_STYLE):
        figure = Figure(figsize=(3.4, 3.2), layout='constrained')
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], '--', color=_NEGATIVE, linewidth=0.8)
        axes.plot(mean, found, color=_POSITIVE, marker='o', markersize=4)
        axes.set(xlabel='score', ylabel='share that is right', xlim=(0, 1), ylim=(0, 1))
        return embed_figure(figure, 'Share of right predictions by score')


def draw_confusions(names: Sequence[str], counts: np.ndarray) -> Markup:
    """Draw the confusion matrix (true, predicted), each row as shares of its class."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    side = min(9.0, 2.6 + 0.24 * len(names))
    with rc_context({**_STYLE, 'axes.grid': False}):
        figure = Figure(figsize=(side + 0.6, side), layout='constrained')
        axes = figure.subplots()
        picture = axes.imshow(100 * shares, cmap='Blues', vmin=0, vmax=100, interpolation='none')
        figure.colorbar(picture, ax=axes, shrink=0.7, label='% of the true class')
        axes.set(xlabel='predicted', ylabel='true')
        if len(names) <= _MAX_NAMED:
            axes.set_xticks(range(len(names)), _labels(names), rotation=90)
            axes.set_yticks(range(len(names)), _labels(names))
        return embed_figure(figure, 'Confusion matrix')


def _panel(title: str, curves: Sequence[Curve], history: History) -> Markup:
    unit = 'epoch' if history.by_epoch else 'iteration'
    with rc_context(_STYLE):
        figure = Figure(figsize=(6, 2.5), layout='constrained')
        axes = figure.subplots()
        for label, points, style in curves:
            if points:
                axes.plot(*zip(*points, strict=True), label=label or None, **style)
        axes.set(title=printable(title), xlabel=unit, xlim=(0, 1.03 * max(history.last, 1)))
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=7)
        return embed_figure(figure, printable(f'{title} by {unit}'))


def _patch(colour: str, label: str) -> Patch:
    return Patch(color=colour, alpha=0.65, label=label)


def _labels(names: Sequence[str]) -> list[str]:
    return [shorten(printable(name), 24) for name in names]
