"""The two pictures of the demo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from mmshufflemix.pictures import save_figure

__all__ = ['draw_curves', 'draw_predictions', 'judge']

_COLOURS = {'right': '#1a7f37', 'wrong': '#cf222e', 'missed': '#bc6c00', 'difficult': '#6e7781'}
_ROWS, _COLUMNS = 3, 6
_LINE_HEIGHT = 0.115
# More would reach into the picture below.
_MAX_LINES = 6


def judge(record: Mapping[str, Any], thr: float = 0.5) -> list[tuple[int, str]]:
    """Say of each class of an image that is labelled or predicted what became of it.

    Args:
        record: ``pred_score`` (K,), ``gt_label`` and ``gt_label_difficult`` (lists of class ids).
        thr: Lowest score of a predicted class.

    Returns:
        Pairs (class id, verdict) by falling score; the verdict is right, wrong (predicted, not
        there), missed (there, not predicted) or difficult (only difficult objects, any score).
    """
    scores = record['pred_score']
    verdicts = []
    for label in sorted(range(len(scores)), key=lambda label: -scores[label]):
        predicted = scores[label] >= thr
        if label in record['gt_label']:
            verdicts.append((label, 'right' if predicted else 'missed'))
        elif label in record['gt_label_difficult']:
            verdicts.append((label, 'difficult'))
        elif predicted:
            verdicts.append((label, 'wrong'))
    return verdicts


def draw_predictions(
    path: Path, title: str, records: Sequence[Mapping[str, Any]], classes: Sequence[str]
) -> None:
    """Draw the first test images with their labels, coloured by what the model made of them."""
    figure = Figure(figsize=(2 * _COLUMNS, 3.6 * _ROWS))
    figure.suptitle(f'{title}: the first test images, labels with scores', fontsize=14, y=0.985)
    grid = figure.subplots(_ROWS, _COLUMNS)
    for axes in grid.flat:
        axes.set_axis_off()
    for axes, record in zip(grid.flat, records, strict=False):
        axes.imshow(Image.open(record['img_path']))
        for line, (label, verdict) in enumerate(judge(record)[:_MAX_LINES]):
            _write(axes, line, f'{classes[label]} {record["pred_score"][label]:.2f}', verdict)
    legend = {
        'right': 'found',
        'missed': 'there, but scored below 0.5',
        'wrong': 'not there, but predicted',
        'difficult': 'marked difficult, not counted in AP',
    }
    for column, (verdict, meaning) in enumerate(legend.items()):
        figure.text(
            0.14 + 0.24 * column,
            0.94,
            f'{_mark(verdict)} {meaning}',
            ha='center',
            fontsize=10,
            color=_COLOURS[verdict],
        )
    figure.subplots_adjust(left=0.02, right=0.98, top=0.92, bottom=0.13, wspace=0.1, hspace=0.72)
    save_figure(figure, path, dpi=110)


def draw_curves(
    path: Path, methods: Mapping[str, tuple[Mapping[int, float], Mapping[int, float]]]
) -> None:
    """Draw training loss and test mAP by epoch.

    Args:
        path: PNG file to write.
        methods: By title, the loss and the mAP in percent by epoch.
    """
    figure = Figure(figsize=(11, 4.2), layout='constrained')
    panels = figure.subplots(1, 2)
    for axes, name in zip(panels, ('training loss', 'test mAP (%)'), strict=True):
        axes.set(xlabel='epoch', ylabel=name)
        axes.grid(alpha=0.3)
    for title, curves in methods.items():
        for axes, curve in zip(panels, curves, strict=True):
            axes.plot(list(curve), list(curve.values()), label=title, marker='o', markersize=3)
    panels[0].legend()
    panels[0].set_title('Mixed labels are harder to fit: compare mAP, not loss', fontsize=10)
    panels[1].legend()
    save_figure(figure, path, dpi=110)


def _write(axes: Axes, line: int, text: str, verdict: str) -> None:
    axes.text(
        0.5,
        -0.06 - line * _LINE_HEIGHT,
        f'{_mark(verdict)} {text}',
        transform=axes.transAxes,
        ha='center',
        va='top',
        fontsize=9.5,
        color=_COLOURS[verdict],
    )


def _mark(verdict: str) -> str:
    return {'right': '✓', 'wrong': '✗', 'missed': '?', 'difficult': '~'}[verdict]
