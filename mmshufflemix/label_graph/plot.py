"""A picture of a label graph."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from mmshufflemix.label_graph.adjacency import binarise, conditional_probability
from mmshufflemix.label_graph.file import LabelGraph
from mmshufflemix.pictures import check_picture_file, save_figure
from mmshufflemix.text import printable

__all__ = ['draw_label_graph']


def draw_label_graph(path: str | Path, graph: LabelGraph, threshold: float = 0.4) -> None:
    """Draw the classes on a circle with an arrow i to j wherever ``P(j | i) >= threshold``.

    The area of a node grows with the number of images of its class, the width of an arrow with its
    probability; nodes without an arrow are grey.

    Args:
        path: Picture to write; its ending (.png, .pdf, .svg) decides the format.
        graph: What to draw.
        threshold: Least probability of an arrow.

    Raises:
        ValueError: If the ending is no format that can be written, or the threshold not positive.
    """
    check_picture_file(path)
    probability = conditional_probability(graph.counts, graph.cooccurrence)
    edges = np.argwhere(binarise(probability, threshold) > 0)
    num_classes = len(graph.classes)
    side = 4.5 + 0.08 * num_classes
    figure = Figure(figsize=(side, side))
    axes = figure.add_axes((0.15, 0.15, 0.7, 0.7))
    angles = [math.pi / 2 - 2 * math.pi * index / num_classes for index in range(num_classes)]
    places = np.array([(math.cos(angle), math.sin(angle)) for angle in angles])
    for start, stop in edges:
        axes.add_patch(
            FancyArrowPatch(
                places[start],
                places[stop],
                connectionstyle=f'arc3,rad={_inward_bend(places[start], places[stop])}',
                arrowstyle='-|>',
                mutation_scale=9,
                shrinkA=5,
                shrinkB=7,
                linewidth=0.4 + 1.6 * probability[start, stop],
                color='tab:blue',
                alpha=0.6,
            )
        )
    sizes = 15 + 250 * graph.counts / max(graph.counts.max(), 1)
    linked = np.isin(np.arange(num_classes), edges)
    colours = np.where(linked, 'tab:orange', 'lightgrey')
    axes.scatter(places[:, 0], places[:, 1], s=sizes, c=colours, edgecolors='k', zorder=3)
    for name, count, angle in zip(graph.classes, graph.counts, angles, strict=True):
        _write_name(axes, f'{printable(name)} ({int(count)})', angle)
    axes.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), aspect='equal')
    axes.axis('off')
    figure.text(
        -0.05,
        1.05,
        f'{len(edges)} edges with P(head | tail)\nat least {threshold:g}; in brackets: images',
        va='top',
    )
    save_figure(figure, path, dpi=120, bbox_inches='tight')


def _inward_bend(start: np.ndarray, stop: np.ndarray) -> float:
    """Curvature that bends an arrow to the centre, so that it keeps clear of other nodes."""
    to_the_right = np.array([stop[1] - start[1], start[0] - stop[0]])
    return 0.2 if to_the_right @ (start + stop) < 0 else -0.2


def _write_name(axes: Axes, text: str, angle: float) -> None:
    """Write radially outside the circle, never upside down."""
    left = math.cos(angle) < -1e-9
    degrees = math.degrees(angle) + (180 if left else 0)
    axes.text(
        1.1 * math.cos(angle),
        1.1 * math.sin(angle),
        text,
        rotation=degrees,
        rotation_mode='anchor',
        ha='right' if left else 'left',
        va='center',
        fontsize=9,
        parse_math=False,  # a class may have a $ in its name
    )
