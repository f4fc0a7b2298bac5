"""The machine and the versions that a measured number belongs to."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

__all__ = ['describe_machine', 'wait_for']

_PACKAGES = ('torch', 'mmengine', 'mmcv', 'mmpretrain', 'numpy')


def describe_machine() -> dict[str, Any]:
    """Name processor, cores, threads and load, and the versions of Python and of the stack."""
    return {
        'processor': _processor(),
        'cores': os.cpu_count(),
        'threads': torch.get_num_threads(),
        'load': round(os.getloadavg()[0], 2),
        'system': platform.platform(terse=True),
        'python': platform.python_version(),
        **{name: _version(name) for name in _PACKAGES},
    }


def wait_for(device: str | torch.device) -> None:
    """Wait for a device, so that the clock sees its work."""
    if torch.device(device).type == 'cuda':
        torch.cuda.synchronize(device)


def _processor() -> str:
    info = Path('/proc/cpuinfo')
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(':', 1)[1].strip() for line in lines if line.startswith('model name')]
    return names[0] if names else platform.processor() or platform.machine()


def _version(module: str) -> str:
    """Version of the distribution that provides a module: forks have names of their own."""
    providers = metadata.packages_distributions().get(module, [])
    return ', '.join(f'{name} {metadata.version(name)}' for name in dict.fromkeys(providers))
