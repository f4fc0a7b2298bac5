"""The classifier of points: an MMPretrain classifier that is trained like any other."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from mmpretrain.models import ImageClassifier
from mmpretrain.models.backbones.base_backbone import BaseBackbone
from mmpretrain.registry import MODELS
from torch import Tensor, nn

from mmshufflemix.decision_boundary.methods import Method

__all__ = ['PlaneMLP', 'build_network', 'probabilities']

_COORDINATES = 2


@MODELS.register_module()
class PlaneMLP(BaseBackbone):
    """Three linear layers with ReLU; the fourth linear layer of the classifier is its head.

    The hidden layers are the stages that ``layers='auto'`` of the augments mixes, after the ReLU.

    Args:
        width: Units of each hidden layer.
    """

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        sizes = (_COORDINATES, width, width, width)
        self.layers = nn.Sequential(
            *(
                nn.Sequential(nn.Linear(inputs, outputs), nn.ReLU())
                for inputs, outputs in pairwise(sizes)
            )
        )

    def forward(self, x: Tensor) -> tuple[Tensor]:
        """Map points (N, 2, 1, 1), images of one pixel, to features (N, width)."""
        return (self.layers(x.flatten(1)),)


def build_network(method: Method, num_classes: int, width: int = 64) -> ImageClassifier:
    """Build a classifier of points in training mode, with PyTorch's default initialisation.

    The weights come from PyTorch's global generator, the same for all methods after one seed.

    Args:
        method: What it is trained with.
        num_classes: Number of classes.
        width: Units of each hidden layer, at least 1.
    """
    config: dict[str, Any] = {
        'type': 'ImageClassifier',
        'backbone': {'type': 'PlaneMLP', 'width': width},
        'head': {
            'type': 'DropoutLinearClsHead',
            'dropout': method.dropout,
            'num_classes': num_classes,
            'in_channels': width,
        },
        'data_preprocessor': {'num_classes': num_classes},
    }
    if method.augment is not None:
        config['train_cfg'] = {'augments': dict(method.augment)}
    return MODELS.build(config).train()


@torch.no_grad()
def probabilities(model: ImageClassifier, points: Tensor) -> Tensor:
    """Class probabilities (N, K) of points (N, 2), from a model in evaluation mode."""
    return model(points[:, :, None, None], mode='tensor').softmax(dim=1)
