"""The part of a classifier that an exported file holds: from raw pictures to scores."""

from __future__ import annotations

import torch
from mmengine.model import BaseModel
from mmpretrain.models import ClsDataPreprocessor, ImageClassifier
from mmpretrain.models.heads import ClsHead, MultiLabelClsHead
from torch import Tensor, nn

from mmshufflemix.models.mlgcn_head import MLGCNHead

__all__ = ['ScoreNetwork', 'mean_and_std']


class ScoreNetwork(nn.Module):
    """Normalisation, backbone, neck and head of a classifier, and the scores after them.

    The parts are those of the model, not copies; only the head of ML-GCN is replaced by the plain
    linear one with the same classifiers, so that its label branch is not part of the graph.

    Args:
        model: A classifier, without bound mixing hooks.
        loads_bgr: Whether its pipeline gives pictures in the channel order BGR.

    Attributes:
        several: Whether the scores are those of a multi-label head.

    Raises:
        ValueError: If the model is no image classifier with one of the two kinds of head, or its
            preprocessor is of another kind.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, model: BaseModel, loads_bgr: bool) -> None:
        super().__init__()
        preprocessor = model.data_preprocessor
        head = getattr(model, 'head', None)
        if not isinstance(model, ImageClassifier) or not isinstance(
            head, ClsHead | MultiLabelClsHead
        ):
            raise ValueError(
                f'{type(model).__name__} with the head {type(head).__name__} cannot be exported; '
                'it takes an ImageClassifier with a single-label or multi-label head.'
            )
        if not isinstance(preprocessor, ClsDataPreprocessor):
            raise ValueError(
                f'the data preprocessor {type(preprocessor).__name__} cannot be exported; use '
                'ClsDataPreprocessor.'
            )
        mean, std = mean_and_std(preprocessor)
        self.register_buffer('mean', torch.tensor(mean).view(1, 3, 1, 1))
        self.register_buffer('std', torch.tensor(std).view(1, 3, 1, 1))
        # The network was trained on RGB if exactly one of reader and preprocessor swaps channels.
        self.swap = loads_bgr != preprocessor.to_rgb
        self.backbone = model.backbone
        self.neck = model.neck if model.with_neck else nn.Identity()
        self.head = head.fold() if isinstance(head, MLGCNHead) else head
        self.several = isinstance(head, MultiLabelClsHead)
        self.eval()

    def forward(self, images: Tensor) -> Tensor:
        """Score pictures.

        Args:
            images: RGB pictures (N, 3, H, W), float, from 0 to 255.

        Returns:
            Scores (N, K) from 0 to 1; those of one label an image sum to 1.
        """
        inputs = images.flip(1) if self.swap else images
        logits = self.head(self.neck(self.backbone((inputs - self.mean) / self.std)))
        return logits.sigmoid() if self.several else logits.softmax(dim=1)


def mean_and_std(preprocessor: ClsDataPreprocessor) -> tuple[list[float], list[float]]:
    """The three means and deviations of a preprocessor, 0 and 1 if it does not normalise.

    Raises:
        ValueError: If they are for other than three channels.
    """
    if not preprocessor._enable_normalize:
        return [0.0] * 3, [1.0] * 3
    mean, std = preprocessor.mean.flatten().tolist(), preprocessor.std.flatten().tolist()
    if {len(mean), len(std)} - {1, 3}:
        raise ValueError(
            f'the data preprocessor has {len(mean)} means and {len(std)} deviations; only models '
            'of three channels can be exported.'
        )
    return mean * (3 // len(mean)), std * (3 // len(std))
