from __future__ import annotations

import numpy as np
import pytest

from mmshufflemix.label_graph import ppmi_vectors, random_vectors

COUNTS = np.array([10, 8, 6, 5, 0])
TOGETHER = np.zeros((5, 5), dtype=np.int64)
TOGETHER[0, 1] = TOGETHER[1, 0] = 7
TOGETHER[2, 3] = TOGETHER[3, 2] = 1


def cosines(vectors: np.ndarray) -> np.ndarray:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T


def test_the_seed_decides_the_draw() -> None:
    np.testing.assert_array_equal(random_vectors(3, 8, seed=1), random_vectors(3, 8, seed=1))
    assert (random_vectors(3, 8, seed=1) != random_vectors(3, 8, seed=2)).all()


def test_drawn_vectors_are_as_long_as_glove() -> None:
    lengths = np.linalg.norm(random_vectors(200, 300), axis=1)
    assert lengths.mean() == pytest.approx(0.38 * 300**0.5, rel=0.02)


def test_ppmi_equals_loops_and_eigenvectors() -> None:
    """With all dimensions kept, the vectors span M = U S U' of |eigenvalues|, rows rescaled."""
    joint = TOGETHER + np.diag(COUNTS)
    total = joint.sum()
    m = np.eye(5)
    for i in range(5):
        for j in range(5):
            if joint[i, j]:
                ratio = joint[i, j] * total / (joint[i].sum() * joint[j].sum())
                m[i, j] += max(0, np.log(ratio))
    values, vectors = np.linalg.eigh(m)
    gram = vectors @ np.diag(np.abs(values)) @ vectors.T
    scale = np.diag(gram) ** -0.5
    expected = scale[:, None] * gram * scale
    np.testing.assert_allclose(cosines(ppmi_vectors(COUNTS, TOGETHER, 5)), expected, atol=1e-5)


def test_classes_that_occur_together_are_close_and_unseen_ones_alone() -> None:
    similar = cosines(ppmi_vectors(COUNTS, TOGETHER, 300))
    assert similar[0, 1] > similar[2, 3] >= 0
    np.testing.assert_allclose(similar[4, :4], 0, atol=1e-6)


@pytest.mark.parametrize('dim', [1, 2, 5, 300])
def test_every_vector_is_finite_and_of_the_length_of_glove(dim: int) -> None:
    vectors = ppmi_vectors(COUNTS, TOGETHER, dim)
    assert vectors.shape == (5, dim)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 0.38 * dim**0.5, rtol=1e-5)


def test_no_label_twice_on_an_image_still_gives_different_vectors() -> None:
    vectors = ppmi_vectors(np.array([3, 3, 3]), np.zeros((3, 3), dtype=np.int64), 3)
    np.testing.assert_allclose(cosines(vectors), np.eye(3), atol=1e-6)
