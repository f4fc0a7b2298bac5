"""The pre-activation residual networks of the experiments on small images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from mmpretrain.models.backbones.base_backbone import BaseBackbone
from mmpretrain.registry import MODELS
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint

__all__ = ['PreActBlock', 'PreActBottleneck', 'PreActResNet']

_STAGE_WIDTHS = (1, 2, 4, 8)
_STAGE_STRIDES = (1, 2, 2, 2)


def _conv(in_channels: int, out_channels: int, kernel_size: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(
        in_channels,
        out_channels,
        kernel_size,
        stride=stride,
        padding=kernel_size // 2,
        bias=False,
    )


class _ResidualUnit(nn.Module):
    """What both kinds of blocks share: the first norm, the projection and checkpointing."""

    expansion: int

    def __init__(self, in_channels: int, channels: int, stride: int, with_cp: bool) -> None:
        super().__init__()
        out_channels = channels * self.expansion
        self.with_cp = with_cp
        self.bn1 = nn.BatchNorm2d(in_channels)
        self.shortcut: nn.Module | None = None
        if stride != 1 or in_channels != out_channels:
            self.shortcut = nn.Sequential(_conv(in_channels, out_channels, 1, stride))

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, in_channels, H, W) to (N, channels * expansion, H / stride, W / stride)."""
        if self.with_cp and torch.is_grad_enabled():
            return checkpoint(self._compute, x, use_reentrant=False)
        return self._compute(x)

    def _compute(self, x: Tensor) -> Tensor:
        raise NotImplementedError


class PreActBlock(_ResidualUnit):
    """BN-ReLU-conv3x3-BN-ReLU-conv3x3, plus a shortcut that starts after the first BN-ReLU.

    The shortcut takes BN-ReLU(x) in every block, as it is or through a 1x1 convolution where the
    shape changes. This is the released code's wiring; arXiv 1603.05027 passes x itself wherever the
    shape stays.

    Args:
        in_channels: Channels of the input.
        channels: Channels of both convolutions, and of the output.
        stride: Stride of the first convolution and of the projection.
        with_cp: Recompute the block in the backward pass to save memory.
    """

    expansion = 1

    def __init__(
        self, in_channels: int, channels: int, stride: int = 1, with_cp: bool = False
    ) -> None:
        super().__init__(in_channels, channels, stride, with_cp)
        self.conv1 = _conv(in_channels, channels, 3, stride)
        self.bn2 = nn.BatchNorm2d(channels)
        self.conv2 = _conv(channels, channels, 3)

    def _compute(self, x: Tensor) -> Tensor:
        activated = F.relu(self.bn1(x))
        shortcut = activated if self.shortcut is None else self.shortcut(activated)
        out = self.conv1(activated)
        out = self.conv2(F.relu(self.bn2(out)))
        return out + shortcut


class PreActBottleneck(_ResidualUnit):
    """BN-ReLU before each of conv1x1, conv3x3 and conv1x1, plus a shortcut.

    The shortcut takes BN-ReLU(x) through a 1x1 convolution where the shape changes, x itself
    elsewhere.

    Args:
        in_channels: Channels of the input.
        channels: Channels inside the block; the output has four times as many.
        stride: Stride of the 3x3 convolution and of the projection.
        with_cp: Recompute the block in the backward pass to save memory.
    """

    expansion = 4

    def __init__(
        self, in_channels: int, channels: int, stride: int = 1, with_cp: bool = False
    ) -> None:
        super().__init__(in_channels, channels, stride, with_cp)
        self.conv1 = _conv(in_channels, channels, 1)
        self.bn2 = nn.BatchNorm2d(channels)
        self.conv2 = _conv(channels, channels, 3, stride)
        self.bn3 = nn.BatchNorm2d(channels)
        self.conv3 = _conv(channels, channels * self.expansion, 1)

    def _compute(self, x: Tensor) -> Tensor:
        activated = F.relu(self.bn1(x))
        shortcut = x if self.shortcut is None else self.shortcut(activated)
        out = self.conv1(activated)
        out = self.conv2(F.relu(self.bn2(out)))
        out = self.conv3(F.relu(self.bn3(out)))
        return out + shortcut


_Block = type[PreActBlock] | type[PreActBottleneck]

_DEPTHS: dict[int, tuple[_Block, tuple[int, ...]]] = {
    18: (PreActBlock, (2, 2, 2, 2)),
    34: (PreActBlock, (3, 4, 6, 3)),
    50: (PreActBottleneck, (3, 4, 6, 3)),
    101: (PreActBottleneck, (3, 4, 23, 3)),
    152: (PreActBottleneck, (3, 8, 36, 3)),
}


@MODELS.register_module()
class PreActResNet(BaseBackbone):
    """Pre-activation ResNet for small images, as in the code released with arXiv 2305.18684.

    The stem is one 3x3 convolution of 64 channels; nothing follows the last block: no norm, no
    activation. Weights keep PyTorch's default initialisation. PreActResNet18 with global average
    pooling and a linear layer of 10 classes has 11,171,146 parameters; Wide-PreActResNet18-2 is
    ``depth=18, widen_factor=2``.

    Args:
        depth: 18 or 34 (basic blocks), 50, 101 or 152 (bottlenecks).
        widen_factor: Multiplies the channels of the four stages, those inside and those at the
            output of a bottleneck alike; the stem keeps its width.
        base_channels: Channels of the stem and of the first stage, 64 in the paper; fewer make the
            whole network narrower.
        in_channels: Channels of the images.
        out_indices: Stages to return, each 0 to 3.
        frozen_stages: Parts that get no gradient and stay in eval mode: -1 none, 0 the stem, k the
            stem and the first k stages.
        with_cp: Recompute each block in the backward pass to save memory. Gradients stay the same;
            running statistics of norms are updated in both passes, as in MMPretrain's ResNet.
        norm_eval: Keep all norms in eval mode during training.
        init_cfg: Initialisation as in MMEngine's BaseModule; None leaves PyTorch's.

    Attributes:
        res_layers: Names of the stages, 'layer1' to 'layer4'.
        feat_dim: Channels of the last stage.

    Raises:
        ValueError: If an argument is out of its range.
    """

    def __init__(
        self,
        depth: int,
        widen_factor: int = 1,
        base_channels: int = 64,
        in_channels: int = 3,
        out_indices: Sequence[int] = (3,),
        frozen_stages: int = -1,
        with_cp: bool = False,
        norm_eval: bool = False,
        init_cfg: dict[str, Any] | list[dict[str, Any]] | None = None,
    ) -> None:
        super().__init__(init_cfg)
        if depth not in _DEPTHS:
            raise ValueError(f'depth must be one of {", ".join(map(str, _DEPTHS))}, got {depth!r}')
        _check_integer('widen_factor', widen_factor, 1)
        _check_integer('base_channels', base_channels, 1)
        _check_integer('in_channels', in_channels, 1)
        _check_integer('frozen_stages', frozen_stages, -1, len(_STAGE_WIDTHS))
        _check_out_indices(out_indices)
        self.out_indices = tuple(out_indices)
        self.frozen_stages = frozen_stages
        self.norm_eval = norm_eval

        self.conv1 = _conv(in_channels, base_channels, 3)
        self.res_layers: list[str] = []
        block, num_blocks = _DEPTHS[depth]
        width = base_channels
        for i, factor in enumerate(_STAGE_WIDTHS):
            channels = base_channels * factor * widen_factor
            units = []
            for j in range(num_blocks[i]):
                stride = _STAGE_STRIDES[i] if j == 0 else 1
                units.append(block(width, channels, stride, with_cp))
                width = channels * block.expansion
            self.res_layers.append(f'layer{i + 1}')
            self.add_module(self.res_layers[-1], nn.Sequential(*units))
        self.feat_dim = width
        self._freeze()

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        """Compute the features of the stages in ``out_indices``.

        Args:
            x: Normalised images, (N, in_channels, H, W).

        Returns:
            Features in ascending order of the stages. Stage i has base_channels * 2^i *
            widen_factor channels, four times as many with bottlenecks, and 1 / 2^i of the height
            and width.
        """
        x = self.conv1(x)
        outputs = []
        for i, name in enumerate(self.res_layers):
            x = getattr(self, name)(x)
            if i in self.out_indices:
                outputs.append(x)
        return tuple(outputs)

    def train(self, mode: bool = True) -> PreActResNet:
        """Switch between training and eval mode; frozen parts stay in eval mode."""
        super().train(mode)
        self._freeze()
        if self.norm_eval:
            for module in self.modules():
                if isinstance(module, _BatchNorm):
                    module.eval()
        return self

    def _freeze(self) -> None:
        if self.frozen_stages < 0:
            return
        for name in ['conv1', *self.res_layers[: self.frozen_stages]]:
            getattr(self, name).eval().requires_grad_(False)


def _check_integer(name: str, value: int, low: int, high: int | None = None) -> None:
    if isinstance(value, int) and not isinstance(value, bool):
        if low <= value and (high is None or value <= high):
            return
    limits = f'of at least {low}' if high is None else f'from {low} to {high}'
    raise ValueError(f'{name} must be an integer {limits}, got {value!r}')


def _check_out_indices(out_indices: Sequence[int]) -> None:
    stages = range(len(_STAGE_WIDTHS))
    if isinstance(out_indices, Sequence) and out_indices:
        if all(index in stages for index in out_indices):
            return
    raise ValueError(
        f'out_indices must list stages from 0 to {stages[-1]}, as in (3,), got {out_indices!r}'
    )
