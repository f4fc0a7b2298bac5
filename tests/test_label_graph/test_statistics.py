from __future__ import annotations

import numpy as np
import pytest

from mmshufflemix.label_graph import count_labels


def test_counts_by_hand() -> None:
    labels = [[0, 1], [1, 0, 1], [0], [2, 1], []]
    counts, together = count_labels(labels, 4)
    assert counts.tolist() == [3, 3, 1, 0]
    assert together.tolist() == [[0, 2, 0, 0], [2, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]


def test_counts_equal_loops_over_pairs() -> None:
    rng = np.random.default_rng(0)
    labels = [rng.integers(0, 5, rng.integers(0, 6)).tolist() for _ in range(40)]
    counts, together = count_labels(labels, 5)
    for i in range(5):
        assert counts[i] == sum(i in ids for ids in labels)
        for j in range(5):
            expected = 0 if i == j else sum(i in ids and j in ids for ids in labels)
            assert together[i, j] == expected


@pytest.mark.parametrize('label', [-1, 3])
def test_an_unknown_id_is_refused(label: int) -> None:
    with pytest.raises(ValueError, match=r'image 1 has the labels .*expected class ids in 0\.\.2'):
        count_labels([[0], [1, label]], 3)
