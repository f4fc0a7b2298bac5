"""Charts of labels and picture sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

__all__ = ['draw_counts', 'draw_label_numbers', 'draw_sizes', 'draw_together']


def draw_counts(classes: Sequence[str], counts: Mapping[str, np.ndarray]) -> Figure:
    """Draw the pictures of each class as horizontal bars, one for each split.

    Args:
        classes: The K names.
        counts: Pictures of each class (K,) by split.
    """
    height = 0.8 / max(len(counts), 1)
    figure = Figure(figsize=(7, 0.9 + len(classes) * (0.12 + 0.07 * len(counts))))
    axes = figure.subplots()
    places = np.arange(len(classes))
    for index, (name, values) in enumerate(counts.items()):
        offset = (index - (len(counts) - 1) / 2) * height
        axes.barh(places + offset, values, height, label=name)
    axes.set_yticks(places, classes, fontsize=8)
    axes.set(ylim=(len(classes) - 0.4, -0.6), xlabel='pictures')
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(axis='x', alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[['top', 'right']].set_visible(False)
    if len(counts) > 1:
        axes.legend(loc='lower center', bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)
    return figure


def draw_label_numbers(numbers: Mapping[str, np.ndarray]) -> Figure:
    """Draw how many pictures have 0, 1, 2, ... labels, as percent of their split."""
    figure = Figure(figsize=(7, 2.8))
    axes = figure.subplots()
    width = 0.8 / max(len(numbers), 1)
    for index, (name, values) in enumerate(numbers.items()):
        offset = (index - (len(numbers) - 1) / 2) * width
        share = 100 * values / max(values.sum(), 1)
        axes.bar(np.arange(len(values)) + offset, share, width, label=name)
    axes.set(xlabel='labels of a picture', ylabel='pictures (%)')
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[['top', 'right']].set_visible(False)
    if len(numbers) > 1:
        axes.legend(frameon=False)
    return figure


def draw_together(classes: Sequence[str], probability: np.ndarray) -> Figure:
    """Draw the share of the pictures of one class (row) that have another (column).

    Args:
        classes: The K names.
        probability: P(column | row), (K, K).
    """
    side = 2.2 + 0.22 * len(classes) if len(classes) <= 40 else 2.2 + 0.125 * len(classes)
    size = 8 if len(classes) <= 40 else 6.5
    figure = Figure(figsize=(side + 0.6, side))
    axes = figure.subplots()
    shown = np.ma.masked_array(probability, np.eye(len(classes), dtype=bool))
    image = axes.imshow(shown, cmap='Blues', vmin=0, vmax=1, interpolation='nearest')
    axes.set_facecolor('#e6e9ef')
    places = np.arange(len(classes))
    axes.set_xticks(places, classes, rotation=90, fontsize=size)
    axes.set_yticks(places, classes, fontsize=size)
    axes.tick_params(length=0)
    if len(classes) <= 20:
        _write_shares(figure, probability)
    bar = figure.colorbar(image, ax=axes, fraction=0.04, pad=0.02)
    bar.set_label('P(column | row)', fontsize=size)
    bar.ax.tick_params(labelsize=size)
    return figure


def draw_sizes(sizes: Mapping[str, Sequence[tuple[int, int]]]) -> Figure:
    """Draw width against height of the pictures of each split."""
    figure = Figure(figsize=(6, 4.2))
    axes = figure.subplots()
    for index, (name, pairs) in enumerate(sizes.items()):
        # One dot for each size, not for each picture: an SVG holds every dot.
        places, counts = np.unique(np.array(pairs).reshape(-1, 2), axis=0, return_counts=True)
        area = 8 + 12 * np.log10(np.maximum(counts, 1))
        colour = f'C{index}'
        axes.scatter(places[:, 0], places[:, 1], s=area, alpha=0.5, label=name, color=colour)
    axes.set(xlabel='width (pixels)', ylabel='height (pixels)')
    axes.set_xlim(0, 1.05 * max(width for pairs in sizes.values() for width, _ in pairs))
    axes.set_ylim(0, 1.05 * max(height for pairs in sizes.values() for _, height in pairs))
    axes.grid(alpha=0.3)
    axes.spines[['top', 'right']].set_visible(False)
    if len(sizes) > 1:
        axes.legend(frameon=False)
    return figure


def _write_shares(figure: Figure, probability: np.ndarray) -> None:
    for (row, column), value in np.ndenumerate(probability):
        if row != column and value >= 0.005:
            figure.axes[0].text(
                column,
                row,
                f'{100 * value:.0f}',
                ha='center',
                va='center',
                fontsize=6,
                color='white' if value > 0.6 else '#1d2330',
            )
