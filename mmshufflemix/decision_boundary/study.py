"""All methods on all sets, with one seed or several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mmpretrain.models import ImageClassifier

from mmshufflemix.decision_boundary.methods import Method
from mmshufflemix.decision_boundary.points import (
    PointSet,
    best_accuracy,
    check_rings,
    draw_rings,
)
from mmshufflemix.decision_boundary.training import Schedule, accuracy, train_network

__all__ = ['BEST', 'CLASS_COUNTS', 'Outcome', 'Study', 'run_study']

CLASS_COUNTS = (2, 3)
BEST = 'best possible'
_MOST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Study:
    """Data and training that all methods share.

    Attributes:
        noise: Standard deviation of the points around their ring.
        train_points: Training points of each class.
        test_points: Test points of each class.
        seeds: Seeds of data, weights and all draws, in [0, 2^31).
        schedule: How networks learn.

    Raises:
        ValueError: If noise, points or seeds are out of range, or seeds repeat.
    """

    noise: float = 0.2
    train_points: int = 50
    test_points: int = 1000
    seeds: Sequence[int] = (0,)
    schedule: Schedule = field(default_factory=Schedule)

    def __post_init__(self) -> None:
        for points in (self.train_points, self.test_points):
            check_rings(points, self.noise)
        if not self.seeds:
            raise ValueError('a study needs at least one seed')
        for seed in self.seeds:
            if not 0 <= seed <= _MOST_SEED:
                raise ValueError(f'seeds must lie in [0, 2^31), got {seed}')
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f'seeds must differ, got {list(self.seeds)}')

    def draw(self, num_classes: int, seed: int) -> tuple[PointSet, PointSet]:
        """Draw the training and the test points of a seed; they share no random numbers."""
        return (
            draw_rings(num_classes, self.train_points, self.noise, 2 * seed),
            draw_rings(num_classes, self.test_points, self.noise, 2 * seed + 1),
        )


@dataclass(frozen=True)
class Outcome:
    """What one training gave.

    Attributes:
        method: Key of ``METHODS``; ``BEST`` for the classifier that knows the densities.
        num_classes: Which set.
        seed: Seed of the training and of the data.
        train_accuracy: In percent.
        test_accuracy: In percent.
        train: The training points.
        model: The network in evaluation mode, None for the best possible classifier.
    """

    method: str
    num_classes: int
    seed: int
    train_accuracy: float
    test_accuracy: float
    train: PointSet
    model: ImageClassifier | None


def run_study(
    methods: Mapping[str, Method], study: Study, report: Callable[[], object] = lambda: None
) -> list[Outcome]:
    """Train each method on each set with each seed.

    Args:
        methods: Methods by name.
        study: Data and training.
        report: Called after each training.

    Returns:
        An outcome for each training, and for each set and seed the best possible one.
    """
    outcomes = []
    for seed in study.seeds:
        for num_classes in CLASS_COUNTS:
            train, test = study.draw(num_classes, seed)
            for name, method in methods.items():
                model = train_network(method, train, seed, study.schedule)
                scores = accuracy(model, train), accuracy(model, test)
                outcomes.append(Outcome(name, num_classes, seed, *scores, train, model))
                report()
            best = best_accuracy(train, study.noise), best_accuracy(test, study.noise)
            outcomes.append(Outcome(BEST, num_classes, seed, *best, train, None))
    return outcomes
