from __future__ import annotations

from mmshufflemix.benchmark.robustness import RobustnessCost, measure_robustness_study


def test_study_against_forward_passes() -> None:
    done: list[int] = []
    cost = RobustnessCost(base_channels=4, batch_size=2, pairs=2)
    times = measure_robustness_study(cost, done.append)
    assert done == [1, 2]
    assert len(times.ratios) == 2
    assert min(times.base + times.other) > 0
