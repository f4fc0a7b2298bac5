"""A picture of robustness studies: the measure against the noise level."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mmshufflemix.pictures import check_picture_file, save_figure
from mmshufflemix.robustness.metric import TOP_ONE
from mmshufflemix.text import some

__all__ = ['draw_robustness']

# Told apart without colours too.
_MARKERS = 'osD^vPX*'
_STYLE: Any = {
    'font.size': 8,
    'axes.linewidth': 0.6,
    'legend.fontsize': 7,
    'lines.linewidth': 1.2,
    'text.parse_math': False,  # a file may have a $ in its name
}


def draw_robustness(path: str | Path, records: Mapping[str, dict[str, Any]]) -> None:
    """Draw studies into one figure, a panel of 3.3 in for each noise, a curve for each study.

    Curves start at level 0 with the clean set. Bars are sample standard deviations over the noise
    seeds.

    Args:
        path: Picture to write; its ending (.png, .pdf, .svg) decides the format.
        records: What ``run_study`` returned, by the name in the legend.

    Raises:
        ValueError: If the ending is no format that can be written, or the studies have no noise or
            different measures.
    """
    check_picture_file(path)
    metrics = {record['metric'] for record in records.values()}
    panels = list(
        dict.fromkeys(
            (result['noise'], result['mode'])
            for record in records.values()
            for result in record['results']
        )
    )
    if len(metrics) != 1 or not panels:
        raise ValueError(
            f'a figure needs studies of one measure with some noise, got {some(sorted(metrics))} '
            f'with {len(panels)} noises'
        )
    with rc_context(_STYLE):
        figure = Figure(figsize=(3.3 * len(panels), 2.5), layout='constrained')
        row = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
        for axes, panel in zip(row, panels, strict=True):
            _draw_panel(axes, panel, records)
        figure.axes[0].set_ylabel(_metric_label(metrics.pop()))
        save_figure(figure, path, dpi=300)


def _draw_panel(
    axes: Axes, panel: tuple[str, str | None], records: Mapping[str, dict[str, Any]]
) -> None:
    for index, (name, record) in enumerate(records.items()):
        points = {0.0: (record['clean'], 0.0)}
        for result in record['results']:
            if (result['noise'], result['mode']) == panel and result['level'] > 0:
                points[result['level']] = (result['mean'], result['std'] or 0.0)
        if len(points) == 1:
            continue
        levels = sorted(points)
        axes.errorbar(
            levels,
            [points[level][0] for level in levels],
            [points[level][1] for level in levels],
            label=name,
            color=f'C{index % 10}',
            marker=_MARKERS[index % len(_MARKERS)],
            markersize=3,
            capsize=2,
            elinewidth=0.8,
        )
    axes.set_xlabel(_noise_label(*panel))
    axes.margins(y=0.08)
    axes.grid(linewidth=0.3, alpha=0.6)
    axes.legend(framealpha=0.8)


def _noise_label(noise: str, mode: str | None) -> str:
    if noise == 'white':
        return 'White noise level (standard deviation)'
    return f'Salt & pepper level ({"first channel" if mode == "paper" else "all channels"})'


def _metric_label(metric: str) -> str:
    return 'Top-1 accuracy (%)' if metric == TOP_ONE else f'{metric.split("/")[-1]} (%)'
