"""From label counts to the propagation matrix of ML-GCN (CVPR 2019, section 3.4)."""

from __future__ import annotations

import numpy as np

__all__ = [
    'binarise',
    'conditional_probability',
    'label_adjacency',
    'normalise',
    'reweight_columns',
]


def conditional_probability(counts: np.ndarray, cooccurrence: np.ndarray) -> np.ndarray:
    """Probability of class j in an image that has class i: ``P[i, j] = count(i and j) / count(i)``.

    The row of a class that never occurs is zero.

    Args:
        counts: Images of each class (K,).
        cooccurrence: Images of each pair (K, K), diagonal zero.
    """
    return cooccurrence / np.maximum(counts, 1)[:, None]


def binarise(probability: np.ndarray, threshold: float) -> np.ndarray:
    """Edges (K, K) as 0 and 1: 1 where the probability is at least the threshold.

    Raises:
        ValueError: If the threshold is not positive; one above 1 leaves no edge.
    """
    if not threshold > 0:
        raise ValueError(
            f'threshold must be positive, got {threshold}; usual is 0.4, and a value above 1 '
            'leaves every class on its own'
        )
    return (probability >= threshold).astype(np.float64)


def reweight_columns(edges: np.ndarray, reweight: float) -> np.ndarray:
    """Scale the columns to sum to ``reweight`` and add the identity.

    ``reweight * B / (column sum + 1e-6) + I``: a class keeps weight 1 for itself and shares
    ``reweight`` among its neighbours, as in ML-GCN's released code.

    Raises:
        ValueError: If ``reweight`` is negative.
    """
    if not reweight >= 0:
        raise ValueError(f'reweight must be at least 0, got {reweight}; ML-GCN takes 0.25')
    return reweight * edges / (edges.sum(axis=0) + 1e-6) + np.eye(len(edges))


def normalise(weights: np.ndarray) -> np.ndarray:
    """Symmetric normalisation ``D^-1/2 A^T D^-1/2`` with the row sums of A in D."""
    scale = weights.sum(axis=1) ** -0.5
    return scale[:, None] * weights.T * scale


def label_adjacency(
    counts: np.ndarray, cooccurrence: np.ndarray, threshold: float = 0.4, reweight: float = 0.25
) -> np.ndarray:
    """The matrix (K, K) that a graph convolution multiplies with, float32.

    Args:
        counts: Images of each class (K,).
        cooccurrence: Images of each pair (K, K), diagonal zero.
        threshold: Least conditional probability of an edge; above 1 gives the identity.
        reweight: Total weight of a class's neighbours beside its own weight 1.

    Raises:
        ValueError: If ``threshold`` is not positive or ``reweight`` is negative.
    """
    edges = binarise(conditional_probability(counts, cooccurrence), threshold)
    return normalise(reweight_columns(edges, reweight)).astype(np.float32)
