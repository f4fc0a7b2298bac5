"""Bring small tensors to the device of the work."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ['send']


def send(tensor: Tensor, device: torch.device) -> Tensor:
    """Bring a tensor to a device, without the host waiting for an accelerator to take it."""
    return tensor.to(device, non_blocking=device.type != 'cpu')
