"""Compute in the memory format that convolutions are fastest in."""

from __future__ import annotations

from itertools import chain

import torch
from mmengine.hooks import Hook
from mmengine.runner import Runner
from mmpretrain.registry import HOOKS

__all__ = ['ChannelsLastHook']

_IMAGE_AXES = 4


@HOOKS.register_module()
class ChannelsLastHook(Hook):
    """Keeps the weights in channels-last order, which convolutions pass on to the features.

    Values, names and checkpoints stay the same, only the rounding differs. It pays for networks of
    depthwise convolutions on CPUs, and for half precision on tensor cores; measure before use.
    """

    def before_train(self, runner: Runner) -> None:
        """Reorder the weights after they are initialised or loaded."""
        # Those of 3-D convolutions have another order, and Module.to would raise for them.
        for tensor in chain(runner.model.parameters(), runner.model.buffers()):
            if tensor.ndim == _IMAGE_AXES:
                tensor.data = tensor.data.contiguous(memory_format=torch.channels_last)

    before_test = before_train
