"""Global max pooling."""

from __future__ import annotations

from mmpretrain.registry import MODELS
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = ['GlobalMaxPooling']

_POOLS = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}


@MODELS.register_module()
class GlobalMaxPooling(nn.Module):
    """Maximum of every channel over all positions, for maps of any size.

    The pooling of ML-GCN (CVPR 2019), in place of MMPretrain's ``GlobalAveragePooling``.

    Args:
        dim: Number of axes of positions: 1 for sequences, 2 for images, 3 for volumes.

    Raises:
        ValueError: If ``dim`` is something else, or a feature has another number of axes.
        TypeError: If the input is neither a tensor nor a tuple of tensors.
    """

    def __init__(self, dim: int = 2) -> None:
        super().__init__()
        if dim not in _POOLS:
            raise ValueError(f'dim of GlobalMaxPooling must be 1, 2 or 3, got {dim!r}')
        self.dim = dim

    def init_weights(self) -> None:
        """Nothing to initialise."""

    def forward(self, inputs: Tensor | tuple[Tensor, ...]) -> Tensor | tuple[Tensor, ...]:
        """Pool a feature (N, C, *) to (N, C), or each one of a tuple."""
        if isinstance(inputs, tuple):
            return tuple(self._pool(feature) for feature in inputs)
        return self._pool(inputs)

    def _pool(self, feature: Tensor) -> Tensor:
        if not isinstance(feature, Tensor):
            raise TypeError(
                'GlobalMaxPooling takes a tensor or a tuple of tensors, got '
                f'{type(feature).__name__}'
            )
        if feature.ndim != self.dim + 2:
            raise ValueError(
                f'GlobalMaxPooling(dim={self.dim}) takes features with {self.dim + 2} axes, got '
                f'the shape {tuple(feature.shape)}; set dim to the axes after (N, C), or drop the '
                'neck if the backbone pools itself'
            )
        return _POOLS[self.dim](feature, 1).flatten(1)

    def extra_repr(self) -> str:
        """Show ``dim``."""
        return f'dim={self.dim}'
