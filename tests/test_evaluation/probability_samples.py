"""Samples for metrics of probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


def single_samples(logits: Any, labels: Any) -> list[dict[str, Any]]:
    """What a softmax head and ``PackInputs`` give for logits (N, K) and class ids (N,)."""
    scores = torch.as_tensor(logits, dtype=torch.float32).softmax(dim=1)
    return [
        {'pred_score': score, 'gt_label': torch.tensor([label])}
        for score, label in zip(scores, np.asarray(labels).tolist(), strict=True)
    ]


def multi_samples(scores: Any, targets: Any, difficult: Any = None) -> list[dict[str, Any]]:
    """The same for scores and 0/1 targets (N, K), and perhaps difficult cells."""
    targets = np.asarray(targets, bool)
    samples = [
        {'pred_score': torch.as_tensor(score), 'gt_label': torch.tensor(np.flatnonzero(row))}
        for score, row in zip(scores, targets, strict=True)
    ]
    if difficult is not None:
        for sample, row in zip(samples, np.asarray(difficult, bool), strict=True):
            sample['gt_label_difficult'] = np.flatnonzero(row).tolist()
    return samples


def evaluate(metric: Any, samples: list[dict[str, Any]], classes: Any = None) -> dict[str, float]:
    """Evaluate in batches of 4."""
    if classes is not None:
        metric.dataset_meta = {'classes': classes}
    for start in range(0, len(samples), 4):
        metric.process(None, samples[start : start + 4])
    return metric.evaluate(len(samples))
