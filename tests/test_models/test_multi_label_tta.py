from __future__ import annotations

from typing import Any

import pytest
import torch
from mmpretrain.registry import MODELS
from mmpretrain.structures import DataSample
from torch import nn

import mmshufflemix  # noqa: F401


class Module(nn.Module):
    """As much of a classifier as is needed to merge."""

    def __init__(self, **rule: Any) -> None:
        super().__init__()
        head = dict(type='MultiLabelClsHead', **rule)
        self.head = MODELS.build(head)

    def test_step(self, data: Any) -> Any:
        return data


@pytest.mark.parametrize(
    ('rule', 'expected'),
    [
        ({}, [[1, 2], []]),
        ({'thr': 0.3}, [[0, 1, 2], [0, 2]]),
        ({'topk': 2}, [[1, 2], [0, 2]]),
        ({'thr': 0.9, 'topk': 1}, [[], []]),
    ],
)
def test_labels_belong_to_the_averages(rule: dict[str, Any], expected: list[list[int]]) -> None:
    model = MODELS.build(dict(type='MultiLabelTTA', module=Module(**rule)))
    # Two images, seen twice each; the first view alone gives other labels.
    views = [
        [[0.75, 0.25, 0.5], [0.0, 0.25, 0.75]],
        [[0.0, 0.875, 0.5], [0.75, 0.25, 0.0]],
    ]
    data = [
        [
            DataSample(metainfo={'img_path': f'{index}.jpg'})
            .set_gt_label([index])
            .set_pred_score(torch.tensor(scores))
            .set_pred_label([0])
            for index, scores in enumerate(view)
        ]
        for view in views
    ]
    merged = model.merge_preds(list(zip(*data, strict=True)))
    for index, sample in enumerate(merged):
        average = [
            (one + two) / 2 for one, two in zip(*(view[index] for view in views), strict=True)
        ]
        assert sample.pred_score.tolist() == average
        assert sorted(sample.pred_label.tolist()) == expected[index]
        assert sample.gt_label.tolist() == [index]
        assert sample.img_path == f'{index}.jpg'
        assert data[0][index].pred_label.tolist() == [0]
