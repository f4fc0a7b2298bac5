"""How far probabilities are from frequencies, by bins of equal width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ['CalibrationBins', 'calibration_bins']


@dataclass(frozen=True)
class CalibrationBins:
    """Predictions in B bins of equal width.

    Attributes:
        counts: Predictions in each bin (B,).
        confidence: Their mean probability (B,), NaN in an empty bin.
        frequency: The share of them that came true (B,), NaN in an empty bin.
    """

    counts: np.ndarray
    confidence: np.ndarray
    frequency: np.ndarray

    @property
    def gaps(self) -> np.ndarray:
        """|frequency - confidence| of each bin (B,), 0 in an empty one."""
        return np.nan_to_num(np.abs(self.frequency - self.confidence))

    @property
    def expected_error(self) -> float:
        """ECE, the mean gap over the predictions: sum of counts / N * gap; NaN without any."""
        total = self.counts.sum()
        return float(self.counts @ self.gaps / total) if total else float('nan')

    @property
    def largest_error(self) -> float:
        """MCE, the largest gap of a bin; NaN without predictions."""
        return float(self.gaps.max()) if self.counts.any() else float('nan')

    def rows(self) -> list[dict[str, Any]]:
        """List the bins as plain data, with None where a bin is empty."""
        edges = np.linspace(0, 1, len(self.counts) + 1)
        return [
            {
                'from': float(edges[index]),
                'to': float(edges[index + 1]),
                'count': int(count),
                'confidence': float(self.confidence[index]) if count else None,
                'frequency': float(self.frequency[index]) if count else None,
            }
            for index, count in enumerate(self.counts)
        ]


def calibration_bins(
    probabilities: np.ndarray, outcomes: np.ndarray, bins: int = 15
) -> CalibrationBins:
    """Sort predictions into bins (Guo et al., arXiv 1706.04599, section 2).

    Bin b of B holds the probabilities above (b-1)/B up to b/B; 0 is in the first.

    Args:
        probabilities: Probabilities (M,) in 0..1.
        outcomes: Whether each came true (M,).
        bins: B, at least 1.
    """
    inner_edges = np.linspace(0, 1, bins + 1)[1:-1]
    index = np.searchsorted(inner_edges, probabilities, side='left')
    counts = np.bincount(index, minlength=bins)
    with np.errstate(invalid='ignore'):
        confidence = np.bincount(index, probabilities, minlength=bins) / counts
        frequency = np.bincount(index, outcomes, minlength=bins) / counts
    return CalibrationBins(counts, confidence, frequency)
