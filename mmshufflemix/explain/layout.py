"""From features of any layout to maps (N, C, H, W)."""

from __future__ import annotations

import math

from torch import Tensor, nn

__all__ = ['extra_tokens', 'feature_maps', 'token_grid']


def extra_tokens(model: nn.Module) -> int:
    """How many tokens of a transformer are no places of the picture; they come first.

    MMPretrain's backbones count their class and distillation tokens, timm's call them prefix; 0
    where neither says anything.
    """
    for module in model.modules():
        for name in ('num_extra_tokens', 'num_prefix_tokens'):
            count = getattr(module, name, None)
            if isinstance(count, int):
                return count
    return 0


def token_grid(count: int, height: int, width: int) -> tuple[int, int] | None:
    """Rows and columns of the tokens of a picture, or None if they do not cover it evenly.

    Args:
        count: Number of tokens, row by row.
        height: Height of the picture.
        width: Width of the picture.
    """
    pairs = [(rows, count // rows) for rows in range(1, count + 1) if count % rows == 0]
    if not pairs:
        return None
    grid = min(pairs, key=lambda pair: abs(math.log(pair[0] / pair[1] * width / height)))
    for stride in range(1, max(height, width) + 1):
        for rounded in (math.floor, math.ceil):
            if grid == (rounded(height / stride), rounded(width / stride)):
                return grid
    return None


def feature_maps(feature: Tensor, axis: int, size: tuple[int, int], extra: int) -> Tensor:
    """Bring features to (N, C, H, W), without tokens that are no places of the picture.

    Args:
        feature: Maps (N, C, H, W) or (N, H, W, C), or tokens (N, L, C).
        axis: Axis of C.
        size: Height and width of the network's input.
        extra: Number of further tokens that may come first.

    Returns:
        A copy.

    Raises:
        ValueError: If the features have no positions, or those of tokens are unknown.
    """
    shape = tuple(feature.shape)
    if len(shape) == 4:
        maps = feature.movedim(axis, 1)
    elif len(shape) == 3 and axis == 2:
        first = next((k for k in (extra, 0) if token_grid(shape[1] - k, *size)), None)
        if first is None:
            raise ValueError(
                f'its {shape[1]} tokens do not form a grid over an input of {size[0]} x {size[1]}'
            )
        rows, columns = token_grid(shape[1] - first, *size) or (0, 0)
        maps = feature[:, first:].unflatten(1, (rows, columns)).movedim(3, 1)
    else:
        raise ValueError(f'features of shape {shape} have no positions in the picture')
    if maps.shape[2] * maps.shape[3] < 2:
        raise ValueError(f'features of shape {shape} have a single position')
    return maps.clone()
