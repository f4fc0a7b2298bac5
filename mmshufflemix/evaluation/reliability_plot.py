"""A picture of calibration: what came true against what was predicted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mmshufflemix.evaluation.calibration_bins import CalibrationBins
from mmshufflemix.pictures import check_picture_file, save_figure

__all__ = ['draw_reliability']

_STYLE: Any = {'font.size': 8, 'axes.linewidth': 0.6, 'legend.fontsize': 7}
_WORDS = {
    'single-label': ('Confidence (highest score of an image)', 'Accuracy', 'Images'),
    'multi-label': ('Score of a class', 'Share where the class is present', 'Cells'),
}


def draw_reliability(path: str | Path, bins: CalibrationBins, task: str) -> None:
    """Draw what came true in each bin over the bin, its mean score, and counts below.

    Bars below the diagonal are overconfident. Counts have a logarithmic axis.

    Args:
        path: Picture to write; its ending (.png, .pdf, .svg) decides the format.
        bins: What to draw.
        task: ``'single-label'`` or ``'multi-label'``, for the labels of the axes.

    Raises:
        ValueError: If the ending is no format that can be written.
    """
    check_picture_file(path)
    across, up, counted = _WORDS[task]
    with rc_context(_STYLE):
        figure = Figure(figsize=(3.6, 4.4), layout='constrained')
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        left, width = _draw_bars(upper, bins)
        upper.set_ylabel(up)
        upper.set_title(f'ECE {bins.expected_error:.3f}, MCE {bins.largest_error:.3f}', fontsize=8)
        lower.bar(left, bins.counts, width, align='edge', color='0.6', edgecolor='white', lw=0.5)
        lower.set_yscale('log')
        # Bars of 1 would have no height.
        lower.set_ylim(bottom=0.5)
        lower.set_ylabel(counted)
        lower.set_xlabel(across)
        for axes in (upper, lower):
            axes.grid(linewidth=0.3, alpha=0.6)
            axes.set_axisbelow(True)
        save_figure(figure, path, dpi=200)


def _draw_bars(axes: Axes, bins: CalibrationBins) -> tuple[np.ndarray, float]:
    """Draw the upper panel and return the left edges and the width of the bins."""
    width = 1 / len(bins.counts)
    left = width * np.arange(len(bins.counts))
    axes.bar(
        left,
        bins.frequency,
        width,
        align='edge',
        color='C0',
        edgecolor='white',
        lw=0.5,
        label='came true',
    )
    axes.plot([0, 1], [0, 1], color='black', linestyle='--', linewidth=0.8, label='calibrated')
    middle = left + width / 2
    axes.plot(
        middle,
        bins.confidence,
        color='C3',
        marker='_',
        markersize=9,
        linestyle='none',
        label='mean score',
    )
    axes.vlines(middle, bins.frequency, bins.confidence, color='C3', linewidth=0.8)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.legend(loc='upper left', framealpha=0.8)
    return left, width
