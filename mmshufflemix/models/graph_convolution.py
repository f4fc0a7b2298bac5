"""Graph convolution."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ['GraphConvolution']


class GraphConvolution(nn.Module):
    """Graph convolution without bias: ``adjacency @ (nodes @ weight)`` (Kipf and Welling 2017).

    Weights are drawn from U(-1/sqrt(out), 1/sqrt(out)), as in ML-GCN's released code.

    Args:
        in_channels: Length of a node's vector.
        out_channels: Length of a node's new vector.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))
        bound = out_channels**-0.5
        nn.init.uniform_(self.weight, -bound, bound)

    def forward(self, nodes: Tensor, adjacency: Tensor) -> Tensor:
        """Map node vectors (K, in) with the graph (K, K) to (K, out)."""
        return adjacency @ (nodes @ self.weight)

    def extra_repr(self) -> str:
        """Show the channels."""
        return f'{self.weight.shape[0]}, {self.weight.shape[1]}'
