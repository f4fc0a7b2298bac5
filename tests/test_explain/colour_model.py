"""A classifier of red, green and blue whose evidence lies where the colour is."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from mmengine.config import Config
from mmengine.model import BaseModel
from mmpretrain.registry import MODELS
from mmpretrain.utils import register_all_modules
from torch import Tensor, nn

import mmshufflemix  # noqa: F401

COLOURS = ('red', 'green', 'blue')
STRIDE = 4
RESIZE = [dict(type='Resize', scale=(48, 64))]


class ColourNet(nn.Module):
    """One channel for each colour: how much it exceeds the two others, in cells of 4 x 4."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)
        with torch.no_grad():
            self.conv.weight.copy_((1.5 * torch.eye(3) - 0.5)[:, :, None, None])
            self.conv.bias.fill_(-0.2)

    def forward(self, inputs: Tensor) -> tuple[Tensor]:
        return (nn.functional.avg_pool2d(self.conv(inputs).relu(), STRIDE),)


def graph_head() -> dict[str, Any]:
    """ML-GCN without edges, to be given identity weights by :func:`colour_model`."""
    graph = dict(
        classes=np.array(COLOURS),
        counts=np.array([2, 2, 2]),
        cooccurrence=np.zeros((3, 3), dtype=np.int64),
        embeddings=np.eye(3, dtype=np.float32),
    )
    return dict(
        type='MLGCNHead',
        num_classes=3,
        in_channels=3,
        label_graph=graph,
        threshold=2,
        hidden_channels=3,
        embed_dim=3,
    )


def colour_model(
    steps: list[dict[str, Any]] = RESIZE,
    head: dict[str, Any] | None = None,
    neck: str = 'GlobalMaxPooling',
    **preprocessor: Any,
) -> BaseModel:
    """Build the model in evaluation mode, with a test pipeline of a few transforms."""
    register_all_modules()
    model = MODELS.build(
        dict(
            type='ImageClassifier',
            backbone=dict(type=ColourNet),
            neck=dict(type=neck),
            head=head or graph_head(),
            data_preprocessor=dict(
                mean=[0, 0, 0], std=[255, 255, 255], to_rgb=True, num_classes=3, **preprocessor
            ),
        )
    )
    with torch.no_grad():
        for name, parameter in model.head.named_parameters():
            parameter.copy_(torch.eye(3) if parameter.ndim == 2 else torch.zeros(3))
            assert name
    pipeline = [dict(type='LoadImageFromFile'), *steps, dict(type='PackInputs')]
    model._config = Config(
        dict(test_dataloader=dict(dataset=dict(type='MultiLabelDataset', pipeline=pipeline)))
    )
    model._dataset_meta = {'classes': COLOURS}
    return model.eval()


def picture_of(height: int, width: int, **patches: tuple[int, int, int, int]) -> np.ndarray:
    """A grey picture (H, W, 3) in BGR with patches of colour: top, left, bottom, right."""
    picture = np.full((height, width, 3), 128, np.uint8)
    for colour, (top, left, bottom, right) in patches.items():
        picture[top:bottom, left:right] = 20
        picture[top:bottom, left:right, 2 - COLOURS.index(colour)] = 250
    return picture


def centre(heat: np.ndarray) -> tuple[float, float]:
    """Centre of the heat in pixels: row and column, the middle of pixel 0 at 0.5."""
    rows, columns = (np.arange(length) + 0.5 for length in heat.shape)
    total = heat.sum()
    return float(rows @ heat.sum(axis=1) / total), float(columns @ heat.sum(axis=0) / total)
