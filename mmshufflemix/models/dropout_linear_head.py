"""A linear classifier behind dropout, for the dropout rows of the tables."""

from __future__ import annotations

from typing import Any

from mmpretrain.models.heads import LinearClsHead
from mmpretrain.registry import MODELS
from torch import Tensor, nn

__all__ = ['DropoutLinearClsHead']


@MODELS.register_module()
class DropoutLinearClsHead(LinearClsHead):
    """MMPretrain's ``LinearClsHead`` with dropout before the linear layer.

    It adds no weights: state dicts are those of ``LinearClsHead``.

    Args:
        *args: Arguments of ``LinearClsHead``.
        dropout: Probability with which a feature is zeroed in training, in [0, 1); 0.2 in the
            rows of the ShuffleMix paper (arXiv 2305.18684).
        **kwargs: Arguments of ``LinearClsHead``.

    Raises:
        ValueError: If ``dropout`` is out of range.
    """

    def __init__(self, *args: Any, dropout: float = 0.2, **kwargs: Any) -> None:
        if not 0 <= dropout < 1:
            raise ValueError(f'dropout must lie in [0, 1), got {dropout}')
        super().__init__(*args, **kwargs)
        self.dropout = nn.Dropout(dropout)

    def pre_logits(self, feats: tuple[Tensor, ...]) -> Tensor:
        """Drop features of the last stage (N, C)."""
        return self.dropout(super().pre_logits(feats))
