"""Class vectors without word vectors: from the labels themselves, or drawn."""

from __future__ import annotations

import numpy as np

__all__ = ['ppmi_vectors', 'random_vectors']

# Standard deviation of the coordinates of GloVe's vectors, here those of the 80 classes of COCO.
# Vectors of the same size let the same learning rates do.
_SPREAD = 0.38


def random_vectors(num_classes: int, dim: int, seed: int = 0) -> np.ndarray:
    """Draw normal vectors (K, dim), float32, as long as GloVe's on average."""
    rng = np.random.default_rng(seed)
    return rng.normal(0, _SPREAD, (num_classes, dim)).astype(np.float32)


def ppmi_vectors(
    counts: np.ndarray, cooccurrence: np.ndarray, dim: int, seed: int = 0
) -> np.ndarray:
    """Vectors from how the labels occur together: positive pointwise mutual information and SVD.

    ``max(0, log(p(i, j) / (p(i) p(j))))`` over all pairs, a class with itself included (Levy and
    Goldberg 2014), plus the identity, so that every class has a direction of its own even if it
    never occurs; then ``U sqrt(S)`` of the largest ``dim`` singular values. With more
    dimensions than classes the rest is zero. All vectors are as long as GloVe's on average.

    Args:
        counts: Images of each class (K,).
        cooccurrence: Images of each pair (K, K), diagonal zero.
        dim: Length of the vectors.
        seed: For the classes that fewer than K dimensions leave without a direction.

    Returns:
        Vectors (K, dim), float32.
    """
    joint = cooccurrence + np.diag(counts).astype(np.float64)
    marginal = joint.sum(axis=1)
    independent = np.outer(marginal, marginal) / max(joint.sum(), 1)
    ratio = np.divide(joint, independent, out=np.ones_like(joint), where=independent > 0)
    ppmi = np.log(np.maximum(ratio, 1))
    u, s, _ = np.linalg.svd(ppmi + np.eye(len(counts)))
    directions = np.zeros((len(counts), dim))
    kept = min(dim, len(counts))
    directions[:, :kept] = u[:, :kept] * np.sqrt(s[:kept])
    lost = np.linalg.norm(directions, axis=1) < 1e-6
    directions[lost] = random_vectors(len(counts), dim, seed)[lost]
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return (directions * _SPREAD * np.sqrt(dim)).astype(np.float32)
