"""Test-time augmentation for images with several labels."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from mmpretrain.models import AverageClsScoreTTA
from mmpretrain.registry import MODELS
from mmpretrain.structures import DataSample

__all__ = ['MultiLabelTTA']


@MODELS.register_module()
class MultiLabelTTA(AverageClsScoreTTA):
    """Averages the scores of all views and takes the labels from the averages.

    The labels follow the rule of the model's ``MultiLabelClsHead``: scores of at least ``thr``,
    else the ``topk`` highest. MMPretrain's own class keeps the labels of the first view.
    """

    def _merge_single_sample(self, data_samples: Sequence[DataSample]) -> DataSample:
        merged = super()._merge_single_sample(data_samples)
        head, scores = self.module.head, merged.pred_score
        if head.thr is not None:
            labels = torch.where(scores >= head.thr)[0]
        else:
            labels = scores.topk(head.topk).indices
        return merged.set_pred_label(labels)
