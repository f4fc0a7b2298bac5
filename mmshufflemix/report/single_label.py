"""The parts of a report on predictions with one label an image."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.metrics import confusion_matrix

from mmshufflemix.evaluation.precision_recall import top_k_cells
from mmshufflemix.page import Section
from mmshufflemix.report.charts import draw_bars, draw_calibration, draw_confusions
from mmshufflemix.report.gallery import Gallery
from mmshufflemix.report.mistakes import Mistake, wrong_images
from mmshufflemix.report.multi_label import WORST_CLASSES, rising
from mmshufflemix.report.predictions import Predictions
from mmshufflemix.report.text import percent
from mmshufflemix.text import printable

__all__ = ['confused_pairs', 'single_label_sections']

_PAIRS = 20


def single_label_sections(predictions: Predictions, gallery: Gallery, top: int) -> list[Section]:
    """Make the table of classes, the confusions and the worst mistakes.

    Args:
        predictions: Of one label an image.
        gallery: What embeds pictures.
        top: How many mistakes a list has.
    """
    labels = range(len(predictions.names))
    true, chosen = predictions.targets.argmax(axis=1), predictions.scores.argmax(axis=1)
    counts = confusion_matrix(true, chosen, labels=labels)
    images = counts.sum(axis=1)
    with np.errstate(invalid='ignore'):
        accuracy = np.diag(counts) / images
    order = rising(accuracy)
    worst = [index for index in order if accuracy[index] < 1][:WORST_CLASSES]
    return [
        _table(predictions, counts, accuracy, order),
        _confusions(predictions, counts),
        _calibration(predictions, chosen == true),
        _mistakes(
            'Worst mistakes',
            'Wrong predictions of the highest scores.',
            predictions,
            wrong_images(predictions, top),
            gallery,
        ),
        *(
            _mistakes(
                f'Mistakes: {printable(predictions.names[index])}',
                f'Accuracy {percent(float(accuracy[index]))}: wrong predictions of this class.',
                predictions,
                wrong_images(predictions, top, index),
                gallery,
            )
            for index in worst
        ),
    ]


def confused_pairs(counts: np.ndarray, limit: int) -> list[tuple[int, int]]:
    """Return the pairs (true, predicted) of different classes that occur most often."""
    off = counts.copy()
    np.fill_diagonal(off, 0)
    pairs = np.argsort(-off, axis=None, kind='stable')[:limit]
    found = [divmod(int(pair), len(counts)) for pair in pairs]
    return [(true, chosen) for true, chosen in found if off[true, chosen]]


def _table(
    predictions: Predictions, counts: np.ndarray, accuracy: np.ndarray, order: Sequence[int]
) -> Section:
    names = [printable(name) for name in predictions.names]
    images, chosen = counts.sum(axis=1), counts.sum(axis=0)
    rows = [
        [
            names[index],
            str(images[index]),
            str(counts[index, index]),
            percent(float(accuracy[index])),
            percent(float(counts[index, index] / chosen[index]) if chosen[index] else None),
        ]
        for index in order
    ]
    text = f'{len(predictions.scores):,} images: top-1 {100 * np.trace(counts) / images.sum():.2f}'
    if len(names) > 5:
        top5 = (top_k_cells(predictions.scores, 5) & predictions.targets).any(axis=1).mean()
        text += f', top-5 {100 * top5:.2f}'
    text += '. Sorted by accuracy, the worst first; accuracy and precision in percent.'
    known = [index for index in order if images[index]]
    bars = draw_bars(
        [names[index] for index in known], [100 * float(accuracy[i]) for i in known], 'accuracy'
    )
    return Section(
        'Classes', [text], [bars], ['class', 'images', 'right', 'accuracy', 'precision'], rows
    )


def _confusions(predictions: Predictions, counts: np.ndarray) -> Section:
    names = [printable(name) for name in predictions.names]
    images = counts.sum(axis=1)
    rows = [
        [
            names[true],
            names[chosen],
            str(counts[true, chosen]),
            percent(counts[true, chosen] / images[true]),
        ]
        for true, chosen in confused_pairs(counts, _PAIRS)
    ]
    text = [f'The {len(rows)} pairs that are confused most often.' if rows else 'None at all.']
    columns = ['true', 'predicted', 'images', '% of the true class']
    return Section('Confusions', text, [draw_confusions(names, counts)], columns, rows)


def _calibration(predictions: Predictions, right: np.ndarray) -> Section:
    scores = predictions.scores.max(axis=1)
    text = (
        f'How often the predicted class is right, by its score. On average, the score is '
        f'{percent(float(scores.mean()))} and {percent(float(right.mean()))} are right.'
    )
    return Section('Calibration', [text], [draw_calibration(scores, right)])


def _mistakes(
    title: str, text: str, predictions: Predictions, found: Sequence[Mistake], gallery: Gallery
) -> Section:
    tiles = [
        gallery.tile(predictions.pictures[mistake.image], _caption(predictions, mistake))
        for mistake in found
    ]
    return Section(title, [text if tiles else 'None.'], pictures=tiles)


def _caption(predictions: Predictions, mistake: Mistake) -> str:
    image = mistake.image
    path, true = predictions.pictures[image], int(predictions.targets[image].argmax())
    chosen, label = (printable(predictions.names[index]) for index in (mistake.label, true))
    return '\n'.join(
        [
            # Files of one folder a class have the same names.
            printable('/'.join(Path(path).parts[-2:])) if path else f'image {image}',
            f'predicted: {chosen} {predictions.scores[image, mistake.label]:.3f}',
            f'label: {label} {predictions.scores[image, true]:.3f}',
        ]
    )
