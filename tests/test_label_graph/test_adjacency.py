from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mmshufflemix.label_graph import (
    binarise,
    conditional_probability,
    label_adjacency,
    load_label_graph,
    normalise,
    reweight_columns,
)

# Class 3 never occurs; P = [[0, .5, .1], [1, 0, 0], [.25, 0, 0]] among the others.
COUNTS = np.array([10, 5, 4, 0])
TOGETHER = np.array([[0, 5, 1, 0], [5, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])


def test_probability_by_hand_with_an_unseen_class() -> None:
    expected = [[0, 0.5, 0.1, 0], [1, 0, 0, 0], [0.25, 0, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(conditional_probability(COUNTS, TOGETHER), expected)


def test_the_threshold_itself_is_an_edge() -> None:
    probability = conditional_probability(COUNTS, TOGETHER)
    assert binarise(probability, 0.25).sum() == 3
    assert binarise(probability, 0.2501).sum() == 2


def test_columns_by_hand() -> None:
    edges = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0.0]])
    expected = [[1, 0.25, 0, 0], [0.125, 1, 0, 0], [0.125, 0, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(reweight_columns(edges, 0.25), expected, atol=1e-6)


def test_normalisation_by_hand() -> None:
    weights = np.array([[1, 3.0], [0, 9.0]])
    np.testing.assert_allclose(normalise(weights), [[1 / 4, 0], [3 / 6, 1]])


def test_the_whole_chain_by_hand() -> None:
    """Edges 0-1, 1-0 and 2-0; row sums 1.25, 1.125, 1.125, 1."""
    a = np.array([[1, 0.25, 0, 0], [0.125, 1, 0, 0], [0.125, 0, 1, 0], [0, 0, 0, 1]])
    d = [1.25, 1.125, 1.125, 1]
    expected = [[a[j, i] / (d[i] * d[j]) ** 0.5 for j in range(4)] for i in range(4)]
    result = label_adjacency(COUNTS, TOGETHER, threshold=0.2)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, expected, atol=1e-6)


def test_a_threshold_above_one_or_no_reweighting_is_the_identity() -> None:
    np.testing.assert_array_equal(label_adjacency(COUNTS, TOGETHER, threshold=1.1), np.eye(4))
    np.testing.assert_array_equal(label_adjacency(COUNTS, TOGETHER, reweight=0), np.eye(4))


@pytest.mark.parametrize('threshold', [0, -1, float('nan')])
def test_bad_thresholds_are_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match='threshold must be positive'):
        label_adjacency(COUNTS, TOGETHER, threshold=threshold)


def test_a_negative_reweight_is_refused() -> None:
    with pytest.raises(ValueError, match=r'reweight must be at least 0, got -0\.5'):
        label_adjacency(COUNTS, TOGETHER, reweight=-0.5)


@pytest.mark.parametrize(('name', 'edges'), [('graph_voc', 6), ('graph_coco', 111)])
def test_the_released_graphs_have_the_known_edges(shared_data: Path, name: str, edges: int) -> None:
    graph = load_label_graph(shared_data / f'{name}.npz')
    probability = conditional_probability(graph.counts, graph.cooccurrence)
    assert binarise(probability, 0.4).sum() == edges
    released_code = probability.copy()
    released_code[released_code < 0.4] = 0
    released_code[released_code >= 0.4] = 1
    released_code = released_code * 0.25 / (released_code.sum(0, keepdims=True) + 1e-6)
    released_code += np.identity(len(graph.classes))
    d = np.diag(released_code.sum(1) ** -0.5)
    expected = (released_code @ d).T @ d
    np.testing.assert_allclose(
        label_adjacency(graph.counts, graph.cooccurrence), expected, atol=1e-6
    )
