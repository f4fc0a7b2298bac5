"""Parts of the export, without a whole model."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from mmengine.config import Config
from mmpretrain.utils import register_all_modules
from torch import nn
from torch.nn import functional as F

from mmshufflemix.export import packages
from mmshufflemix.export.graph import check_not_random, export_graph
from mmshufflemix.export.parity import score_difference
from mmshufflemix.export.pipeline import ResizeRule, loads_bgr, pipeline_size, resize_rule

LOAD, PACK = dict(type='LoadImageFromFile'), dict(type='PackInputs')
EDGE = dict(type='ResizeEdge', scale=40, edge='short', backend='pillow')


class Dropping(nn.Module):
    """Drops features also when it predicts."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer('weight', torch.ones(1, 3, 1, 1))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return F.dropout(images * self.weight, 0.5, training=True).mean((2, 3))


def config(*pipeline: dict) -> Config:
    register_all_modules()
    return Config(dict(test_dataloader=dict(dataset=dict(type='X', pipeline=list(pipeline)))))


def test_random_operator_is_refused() -> None:
    graph = export_graph(Dropping().eval(), (4, 4))
    with pytest.raises(ValueError, match=r'draws random numbers when it predicts \(\w+'):
        check_not_random(graph)


def test_size_and_reader_of_pipelines() -> None:
    stretched = config(LOAD, dict(type='Resize', scale=(32, 24)), PACK)
    assert (pipeline_size(stretched), loads_bgr(stretched)) == ((24, 32), True)
    cropped = config(LOAD, EDGE, dict(type='CenterCrop', crop_size=36), PACK)
    assert pipeline_size(cropped) == (36, 36)
    assert not loads_bgr(config(PACK))
    with pytest.raises(ValueError, match='--size 32'):
        pipeline_size(config(PACK))


def test_resize_rules() -> None:
    crop = dict(type='CenterCrop', crop_size=36)
    assert resize_rule([LOAD, EDGE, crop, PACK]) == ResizeRule(40, antialias=True)
    words = resize_rule([EDGE, crop]).describe((36, 36))
    assert words.startswith('shorter edge to 40 (bilinear, with antialiasing), then the central')
    kept = resize_rule([LOAD, dict(type='Resize', scale=8, keep_ratio=True), crop, PACK])
    assert kept.unknown == ('Resize', 'CenterCrop')


def test_differences() -> None:
    scores = np.array([[0.1, 0.5]])
    assert score_difference(scores, scores + np.array([[0, 5e-5]])) == pytest.approx(5e-5)
    for other in (scores + 2e-4, scores * np.nan):
        with pytest.raises(ValueError, match='nothing was written'):
            score_difference(scores, other)
    with pytest.raises(ValueError, match='shape'):
        score_difference(scores, scores[:, :1])


def test_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, 'EXPORT_PACKAGES', ('onnx', 'no_such_package'))
    with pytest.raises(ImportError, match=r"no_such_package.*'pip install -r requirements/export"):
        packages.require_packages()
