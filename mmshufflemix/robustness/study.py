"""A robustness study: a model's measure for each noise, level and noise seed."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from mmshufflemix.robustness.batches import Batch
from mmshufflemix.robustness.metric import Metric
from mmshufflemix.robustness.noise import (
    MODES,
    apply_salt_pepper,
    apply_white_noise,
    check_level,
    draw_salt_pepper,
    draw_white_noise,
)

__all__ = ['CURVE_LEVELS', 'PAPER_LEVELS', 'Condition', 'Study', 'run_study']

PAPER_LEVELS = {'white': (0.1, 0.2, 0.3), 'salt_pepper': (0.02, 0.04, 0.1)}
"""Levels of the paper's robustness table."""
CURVE_LEVELS = tuple(step / 20 for step in range(8))
"""Levels of white noise, 0 to 0.35, that span the paper's robustness figure."""
_SEED_END = 2**64


@dataclass(frozen=True)
class Condition:
    """What is done to the images.

    Attributes:
        noise: One of ``noise.NOISES``.
        level: Its strength.
        mode: One of ``noise.MODES`` for salt and pepper, else None.
    """

    noise: str
    level: float
    mode: str | None = None

    def apply(self, images: Tensor, draw: Tensor) -> Tensor:
        """Return noisy images."""
        if self.mode is None:
            return apply_white_noise(images, draw, self.level)
        return apply_salt_pepper(images, draw, self.level, self.mode)


@dataclass(frozen=True)
class Study:
    """What a study looks at.

    Attributes:
        levels: Levels of each noise.
        modes: Modes of salt and pepper.
        seeds: Noise seeds in [0, 2^64); each gives one generator for a whole set and noise.

    Raises:
        ValueError: If a noise, level, mode or seed is unknown or out of range, seeds repeat, or
            there is nothing to do.
    """

    levels: Mapping[str, Sequence[float]] = field(default_factory=lambda: PAPER_LEVELS)
    modes: Sequence[str] = ('paper',)
    seeds: Sequence[int] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        for noise, levels in self.levels.items():
            for level in levels:
                check_level(noise, level)
        unknown = set(self.modes) - set(MODES)
        if unknown:
            raise ValueError(f'modes must be among {MODES}, got {sorted(unknown)}')
        if not (self.seeds and self.modes and any(self.levels.values())):
            raise ValueError('a study needs at least one noise with a level, one mode and one seed')
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f'noise seeds must differ, got {list(self.seeds)}')
        for seed in self.seeds:
            if not (isinstance(seed, int) and 0 <= seed < _SEED_END):
                raise ValueError(f'noise seeds must be integers in [0, 2^64), got {seed!r}')

    def conditions(self, noise: str) -> list[Condition]:
        """List the conditions of a noise, mode by mode with rising levels."""
        levels = sorted(set(map(float, self.levels[noise])))
        modes = dict.fromkeys(self.modes) if noise == 'salt_pepper' else (None,)
        return [Condition(noise, level, mode) for mode in modes for level in levels]

    def passes(self) -> int:
        """How often the model runs over the set, the clean images included."""
        conditions = [c for noise in self.levels for c in self.conditions(noise)]
        return 1 + len(self.seeds) * sum(condition.level > 0 for condition in conditions)


@torch.no_grad()
def run_study(
    study: Study,
    model: nn.Module,
    metric: Metric,
    batches: Callable[[], Iterator[Batch]],
    report: Callable[[int], object] = lambda images: None,
) -> dict[str, Any]:
    """Run a model in evaluation mode under all conditions.

    Noise ``s`` of a condition comes from a CPU generator seeded by ``s`` that runs through the set
    in its order. All levels and modes of a noise share its draw. Level 0 is the clean set.

    Args:
        study: What to look at.
        model: The model.
        metric: What to measure.
        batches: Starts a walk through the set.
        report: Called with the number of images after each forward pass of a batch.

    Returns:
        Plain data: ``metric`` (its name), ``clean``, ``images``, ``seeds`` and ``results``, a dict
        for each condition with ``noise``, ``level``, ``mode``, ``mean``, ``std`` (of a sample; None
        for one seed) and ``values``, one for each seed.
    """

    def collect(images: Tensor, batch: Batch) -> Any:
        outcome = metric.collect(model, images, batch)
        report(len(images))
        return outcome

    clean_parts, count = [], 0
    for batch in batches():
        clean_parts.append(collect(batch.images, batch))
        count += len(batch.samples)
    clean = metric.finish(clean_parts)
    results = []
    for noise in study.levels:
        conditions = study.conditions(noise)
        noisy = [condition for condition in conditions if condition.level > 0]
        draw_noise = draw_white_noise if noise == 'white' else draw_salt_pepper
        values: dict[Condition, list[float]] = {condition: [] for condition in noisy}
        for seed in study.seeds if noisy else ():
            generator = torch.Generator().manual_seed(seed)
            parts: dict[Condition, list[Any]] = {condition: [] for condition in noisy}
            for batch in batches():
                draw = draw_noise(batch.images, generator)
                for condition in noisy:
                    parts[condition].append(collect(condition.apply(batch.images, draw), batch))
            for condition in noisy:
                values[condition].append(metric.finish(parts.pop(condition)))
        results += [_result(c, values.get(c, [clean] * len(study.seeds))) for c in conditions]
    return {
        'metric': metric.name,
        'clean': clean,
        'images': count,
        'seeds': list(study.seeds),
        'results': results,
    }


def _result(condition: Condition, values: list[float]) -> dict[str, Any]:
    return {
        'noise': condition.noise,
        'level': condition.level,
        'mode': condition.mode,
        'mean': statistics.fmean(values),
        'std': statistics.stdev(values) if len(values) > 1 else None,
        'values': values,
    }
