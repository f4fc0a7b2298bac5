"""The parts of a report on predictions with several labels an image."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mmshufflemix.evaluation.average_precision import average_precision
from mmshufflemix.evaluation.precision_recall import precision_recall_f1
from mmshufflemix.page import Section
from mmshufflemix.report.charts import draw_bars, draw_calibration, draw_histograms
from mmshufflemix.report.gallery import Gallery
from mmshufflemix.report.mistakes import Mistake, false_negatives, false_positives
from mmshufflemix.report.predictions import Predictions
from mmshufflemix.report.text import number, percent
from mmshufflemix.text import printable

__all__ = ['WORST_CLASSES', 'class_f1', 'multi_label_sections', 'rising']

WORST_CLASSES = 5
_HISTOGRAMS = 20


def multi_label_sections(
    predictions: Predictions, thresholds: np.ndarray, gallery: Gallery, top: int
) -> list[Section]:
    """Make the table of classes, the charts and the worst mistakes.

    Args:
        predictions: Difficult cells are left out of everything.
        thresholds: Lowest score of a prediction for each class (K,).
        gallery: What embeds pictures.
        top: How many mistakes a list has.

    Raises:
        ValueError: If there is no positive at all.
    """
    aps = average_precision(predictions.scores, predictions.targets, predictions.valid)
    order = rising(aps)
    worst = [index for index in order if not np.isnan(aps[index])][:WORST_CLASSES]
    return [
        _table(predictions, thresholds, aps, order),
        _scores(predictions, order),
        *_overall(predictions, thresholds, gallery, top),
        *(
            _of_class(predictions, thresholds, index, float(aps[index]), gallery, top)
            for index in worst
        ),
    ]


def class_f1(
    predictions: Predictions, thresholds: np.ndarray, index: int
) -> tuple[float | None, float | None, float | None]:
    """Return precision, recall and F1 of one class, each None without a positive."""
    column = slice(index, index + 1)
    targets, valid = predictions.targets[:, column], predictions.valid[:, column]
    if not (targets & valid).any():
        return None, None, None
    predicted = predictions.scores[:, column] >= thresholds[index]
    measures = precision_recall_f1(predicted, targets, valid)
    return measures['OP'], measures['OR'], measures['OF1']


def rising(values: np.ndarray) -> list[int]:
    """Return the indices by rising value, those of NaN last."""
    return [int(index) for index in np.argsort(values, kind='stable')]


def _table(
    predictions: Predictions, thresholds: np.ndarray, aps: np.ndarray, order: Sequence[int]
) -> Section:
    measures = precision_recall_f1(
        predictions.scores >= thresholds, predictions.targets, predictions.valid
    )
    six = ', '.join(f'{name} {100 * value:.2f}' for name, value in measures.items())
    names = [printable(name) for name in predictions.names]
    positives = (predictions.targets & predictions.valid).sum(axis=0)
    rows = []
    for index in order:
        shares = class_f1(predictions, thresholds, index)
        rows.append(
            [
                names[index],
                str(positives[index]),
                str((~predictions.valid[:, index]).sum()),
                percent(float(aps[index])),
                number(float(thresholds[index]), 3),
                *map(percent, shares),
            ]
        )
    defined = [index for index in order if not np.isnan(aps[index])]
    text = [
        f'{len(predictions.scores):,} images: mAP {100 * np.nanmean(aps):.2f} over {len(defined)} '
        f'of {len(names)} classes; at the thresholds below {six}.',
        'Sorted by AP, the worst first; AP, precision, recall and F1 in percent. Difficult objects '
        'are left out of all of them, while the log of a training counts them as negative in CP to '
        'OF1 unless its config says otherwise.',
    ]
    bars = draw_bars([names[i] for i in defined], [100 * float(aps[i]) for i in defined], 'AP')
    columns = ['class', 'positives', 'difficult', 'AP', 'threshold', 'precision', 'recall', 'F1']
    return Section('Classes', text, [bars], columns, rows)


def _scores(predictions: Predictions, order: Sequence[int]) -> Section:
    shown = order[:_HISTOGRAMS]
    low, high = (
        [predictions.scores[chosen[:, index], index] for index in shown]
        for chosen in (
            ~predictions.targets & predictions.valid,
            predictions.targets & predictions.valid,
        )
    )
    histograms = draw_histograms([predictions.names[index] for index in shown], low, high)
    right = predictions.targets[predictions.valid]
    calibration = draw_calibration(predictions.scores[predictions.valid], right)
    text = [
        f'Scores from 0 to 1 of {"all" if len(shown) == len(order) else "the worst"} {len(shown)} '
        'classes, each kind as shares of its own number. Below, how often a score is right, the '
        'cells of all classes together: on the dashed line a score is a probability.'
    ]
    return Section('Scores', text, [histograms, calibration])


def _overall(
    predictions: Predictions, thresholds: np.ndarray, gallery: Gallery, top: int
) -> list[Section]:
    return [
        _mistakes(
            'Worst false positives',
            'The highest scores, from the threshold of the class on, of classes that are not '
            'labelled: mistakes, or missing labels.',
            predictions,
            false_positives(predictions, thresholds, top),
            gallery,
        ),
        _mistakes(
            'Worst false negatives',
            'The lowest scores, below the threshold of the class, of classes that are labelled.',
            predictions,
            false_negatives(predictions, thresholds, top),
            gallery,
        ),
    ]


def _of_class(
    predictions: Predictions,
    thresholds: np.ndarray,
    index: int,
    ap: float,
    gallery: Gallery,
    top: int,
) -> Section:
    head = f'AP {100 * ap:.1f}, threshold {number(float(thresholds[index]), 3)}: '
    return _mistakes(
        f'Mistakes: {printable(predictions.names[index])}',
        head + 'highest scores that are wrongly found, then lowest scores that are missed.',
        predictions,
        [
            *false_positives(predictions, thresholds, top, index),
            *false_negatives(predictions, thresholds, top, index),
        ],
        gallery,
        head + 'no mistakes.',
    )


def _mistakes(
    title: str,
    text: str,
    predictions: Predictions,
    found: Sequence[Mistake],
    gallery: Gallery,
    without: str = 'None at the thresholds above.',
) -> Section:
    tiles = [
        gallery.tile(predictions.pictures[mistake.image], _caption(predictions, mistake))
        for mistake in found
    ]
    return Section(title, [text if tiles else without], pictures=tiles)


def _caption(predictions: Predictions, mistake: Mistake) -> str:
    image, label = mistake.image, mistake.label
    path = predictions.pictures[image]
    kind = 'missed' if predictions.targets[image, label] else 'wrongly found'
    names = [printable(name) for name in predictions.names]
    true = [names[k] for k in np.flatnonzero(predictions.targets[image])]
    difficult = [names[k] for k in np.flatnonzero(~predictions.valid[image])]
    lines = [
        printable(Path(path).name) if path else f'image {image}',
        f'{kind}: {names[label]} {predictions.scores[image, label]:.3f}',
        f'labels: {", ".join(true) or "none"}',
    ]
    if difficult:
        lines.append(f'difficult: {", ".join(difficult)}')
    return '\n'.join(lines)
