"""The curves of a run, its starts joined."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from mmshufflemix.run_logs import is_training, measures_of

__all__ = ['History', 'Points', 'join_starts', 'main_measure']

Points = list[tuple[float, float]]
_USUAL = ('multi-label/mAP', 'accuracy/top1', 'single-label/f1-score')


@dataclass(frozen=True)
class History:
    """What a run logged, each step once.

    Attributes:
        training: Records of training steps, by iteration.
        validations: Measures by epoch, or by iteration where a run has no epochs.
        by_epoch: Whether the records have epochs.
        epoch_length: Iterations of an epoch, None where that is not known.
        starts: Names of the starts since the last one that began anew.
    """

    training: Sequence[Mapping[str, Any]]
    validations: Mapping[int, Mapping[str, float]]
    by_epoch: bool
    epoch_length: float | None
    starts: Sequence[str]

    @property
    def last(self) -> int:
        """The last epoch (or iteration) of which something was logged, 0 without any."""
        key = 'epoch' if self.by_epoch else 'iter'
        return max([*(record[key] for record in self.training), *self.validations], default=0)

    def steps(self, key: str) -> Points:
        """Return a scalar at each logged step, placed in epochs if there are any."""
        length = self.epoch_length or 1.0
        return [
            (record['iter'] / length, measures[key])
            for record in self.training
            if key in (measures := measures_of(record))
        ]

    def rates(self) -> Points:
        """Return the learning rate at each logged step.

        Where parts of a network have rates of their own, it is the one that they are shares of.
        """
        keys = {key for record in self.training for key in record if key.endswith('lr')}
        known = [key for key in ('base_lr', 'lr') if key in keys]
        return self.steps(min(known or keys, default='lr'))

    def epoch_means(self, key: str) -> Points:
        """Return the mean of what was logged in each epoch; none without epochs."""
        values: dict[int, list[float]] = {}
        for record in self.training if self.by_epoch else []:
            if key in (measures := measures_of(record)):
                values.setdefault(record['epoch'], []).append(measures[key])
        return [(epoch, sum(found) / len(found)) for epoch, found in sorted(values.items())]

    def measured(self, key: str) -> Points:
        """Return a measure of the validations."""
        return [(step, found[key]) for step, found in self.validations.items() if key in found]

    def best(self, key: str) -> tuple[float, float] | None:
        """Return the first step with the best value of a measure, and the value.

        Best is lowest for a loss and highest for all else; None without any finite value.
        """
        points = [point for point in self.measured(key) if math.isfinite(point[1])]
        sign = 1 if 'loss' in key else -1
        return min(points, key=lambda point: (sign * point[1], point[0]), default=None)


def join_starts(starts: Mapping[str, Sequence[Mapping[str, Any]]]) -> History:
    """Join the starts of a run, of which a later one replaces what it did again.

    A start that begins in some epoch replaces all that earlier ones logged from that epoch on,
    whether it was resumed or began anew.

    Args:
        starts: As :func:`~mmshufflemix.run_logs.read_starts` returns them.
    """
    steps = [dict(record) for records in starts.values() for record in records]
    by_epoch = all(_is_step(record.get('epoch')) for record in steps if is_training(record))
    key = 'epoch' if by_epoch else 'iter'
    training: list[dict[str, Any]] = []
    validations: dict[int, dict[str, float]] = {}
    names: list[str] = []
    for name, records in starts.items():
        new = [
            dict(record)
            for record in records
            if is_training(record) and _is_step(record.get(key)) and _is_step(record.get('iter'))
        ]
        first = min((record[key] for record in new), default=math.inf)
        kept = [record for record in training if record[key] < first]
        names = [*names, name] if kept else [name]
        training = kept + new
        validations = {step: found for step, found in validations.items() if step < first}
        for record in records:
            measures = measures_of(record)
            # Step 0 is that of tests and of validations without a training.
            if measures and not is_training(record) and record['step'] > 0:
                validations[record['step']] = measures
    training.sort(key=lambda record: record['iter'])
    length = _epoch_length(training) if by_epoch else None
    return History(training, dict(sorted(validations.items())), by_epoch, length, names)


def main_measure(
    validations: Mapping[int, Mapping[str, float]], save_best: str | None = None
) -> str | None:
    """Choose the measure that a run is judged by.

    Args:
        validations: Measures by step.
        save_best: What the config keeps the best checkpoint by.

    Returns:
        ``save_best`` if it was measured, else mAP or top-1 accuracy, else the first that is no
        loss; None without any.
    """
    keys = list(dict.fromkeys(key for found in validations.values() for key in found))
    for wanted in (save_best, *_USUAL):
        if wanted in keys:
            return wanted
    return next((key for key in keys if 'loss' not in key), None)


def _is_step(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _epoch_length(training: Sequence[Mapping[str, Any]]) -> float | None:
    """Epochs are logged at the same places, so their first records are one length apart."""
    first: dict[int, int] = {}
    for record in training:
        first.setdefault(record['epoch'], record['iter'])
    epochs = sorted(first)
    apart = [(first[b] - first[a]) / (b - a) for a, b in pairwise(epochs)]
    if apart:
        return max(1.0, statistics.median(apart))
    return float(max((record['iter'] for record in training), default=0)) or None
