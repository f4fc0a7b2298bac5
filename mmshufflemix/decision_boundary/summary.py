"""The accuracies of a study as a table and as plain data."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mmshufflemix.decision_boundary.methods import METHODS
from mmshufflemix.decision_boundary.study import BEST, Outcome, Study
from mmshufflemix.text import align_table

__all__ = ['accuracy_table', 'study_record']


def accuracy_table(outcomes: Sequence[Outcome]) -> str:
    """Test accuracy in percent by method and set, as mean ± standard deviation of the seeds.

    With one seed there is no deviation. It is that of a sample, with n - 1 in the denominator.
    """
    names = dict.fromkeys(outcome.method for outcome in outcomes)
    counts = dict.fromkeys(outcome.num_classes for outcome in outcomes)
    lines = [['method', *(f'{count} classes' for count in counts)]]
    for name in sorted(names, key=lambda name: name == BEST):
        title = METHODS[name].title if name in METHODS else name
        lines.append([title, *(_summary(_values(outcomes, name, count)) for count in counts)])
    return align_table(lines)


def study_record(study: Study, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Settings and accuracies in percent, as plain data for a JSON file."""
    results = [
        {
            'method': outcome.method,
            'classes': outcome.num_classes,
            'seed': outcome.seed,
            'train_accuracy': outcome.train_accuracy,
            'test_accuracy': outcome.test_accuracy,
        }
        for outcome in outcomes
    ]
    settings = asdict(study) | {'seeds': list(study.seeds)}
    return {'settings': settings, 'results': results}


def _values(outcomes: Sequence[Outcome], method: str, num_classes: int) -> list[float]:
    return [
        outcome.test_accuracy
        for outcome in outcomes
        if (outcome.method, outcome.num_classes) == (method, num_classes)
    ]


def _summary(values: Sequence[float]) -> str:
    mean = f'{statistics.fmean(values):.1f}'
    return f'{mean} ± {statistics.stdev(values):.1f}' if len(values) > 1 else mean
