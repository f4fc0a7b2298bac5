"""Compare two functions on a machine that is never quite at rest."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ['PairedTimes', 'time_pairs']


@dataclass(frozen=True)
class PairedTimes:
    """Times of two functions that ran in turn.

    Attributes:
        base: Seconds of the first function, one for each pair.
        other: Seconds of the second function.
    """

    base: tuple[float, ...]
    other: tuple[float, ...]

    @property
    def ratios(self) -> list[float]:
        """``other / base`` of each pair."""
        return [second / first for first, second in zip(self.base, self.other, strict=True)]

    def summary(self) -> dict[str, float]:
        """Median ratio with its quartiles and standard error, and the median times in seconds."""
        ratios = self.ratios
        low, middle, high = statistics.quantiles(ratios, n=4, method='inclusive')
        return {
            'ratio': middle,
            'ratio_q1': low,
            'ratio_q3': high,
            # Of a median, from the quartiles, which slow outliers do not reach.
            'ratio_error': 0.93 * (high - low) / len(ratios) ** 0.5,
            'base_seconds': statistics.median(self.base),
            'other_seconds': statistics.median(self.other),
            'pairs': len(ratios),
        }


def time_pairs(
    base: Callable[[Any], object],
    other: Callable[[Any], object],
    prepare: Callable[[int], Any],
    pairs: int,
    warmup: int = 2,
    report: Callable[[int], object] = lambda done: None,
) -> PairedTimes:
    """Run two functions in turn, which of them is first alternating from pair to pair.

    Args:
        base: Called with what ``prepare`` returns.
        other: Called likewise.
        prepare: Makes the argument of each call from the number of its pair; not timed.
        pairs: Number of timed pairs, at least 2.
        warmup: Number of pairs before them.
        report: Called with the number of timed pairs after each.

    Raises:
        ValueError: If fewer than two pairs are asked for.
    """
    if pairs < 2:
        raise ValueError(f'pairs must be at least 2 for a median with quartiles, got {pairs}')
    times: dict[Callable[[Any], object], list[float]] = {base: [], other: []}
    for number in range(-warmup, pairs):
        order = (base, other) if number % 2 == 0 else (other, base)
        for function in order:
            argument = prepare(number)
            start = time.perf_counter()
            function(argument)
            elapsed = time.perf_counter() - start
            if number >= 0:
                times[function].append(elapsed)
        if number >= 0:
            report(number + 1)
    return PairedTimes(tuple(times[base]), tuple(times[other]))
