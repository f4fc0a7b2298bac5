from __future__ import annotations

import statistics
import time

import pytest

from mmshufflemix.benchmark.paired import PairedTimes, time_pairs


def test_functions_take_turns_and_get_the_argument_of_their_pair(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, 'perf_counter', lambda: clock[0])
    calls: list[tuple[str, int]] = []
    reported: list[int] = []

    def function(name: str, seconds: float):
        def run(argument: int) -> None:
            calls.append((name, argument))
            clock[0] += seconds

        return run

    times = time_pairs(
        function('a', 2.0), function('b', 3.0), lambda i: i, 3, warmup=1, report=reported.append
    )
    assert [argument for _, argument in calls] == [-1, -1, 0, 0, 1, 1, 2, 2]
    assert [name for name, _ in calls] == list('baabbaab')
    assert reported == [1, 2, 3]
    assert times == PairedTimes((2.0,) * 3, (3.0,) * 3)
    assert times.summary()['ratio'] == 1.5
    assert times.summary()['ratio_error'] == 0


def test_summary_is_that_of_the_ratios():
    times = PairedTimes((1.0, 2.0, 4.0, 5.0, 1.0), (1.1, 2.4, 4.0, 10.0, 1.3))
    ratios = [1.1, 1.2, 1.0, 2.0, 1.3]
    summary = times.summary()
    assert summary['ratio'] == pytest.approx(statistics.median(ratios))
    assert (summary['ratio_q1'], summary['ratio_q3']) == pytest.approx((1.1, 1.3))
    assert summary['ratio_error'] == pytest.approx(0.93 * 0.2 / 5**0.5)
    assert summary['base_seconds'] == 2.0
    assert summary['other_seconds'] == 2.4
    assert summary['pairs'] == 5


def test_too_few_pairs_are_refused():
    with pytest.raises(ValueError, match='pairs must be at least 2.*got 1'):
        time_pairs(print, print, lambda i: i, 1)
