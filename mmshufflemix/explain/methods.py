"""The methods of the package grad-cam that are offered."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

__all__ = ['METHODS', 'cam_class', 'require_package']

# Their classes in pytorch_grad_cam; left out are those that exchange layers of the model or need a
# forward pass for every channel.
METHODS = {
    'gradcam': 'GradCAM',
    'gradcam++': 'GradCAMPlusPlus',
    'xgradcam': 'XGradCAM',
    'hirescam': 'HiResCAM',
    'layercam': 'LayerCAM',
    'eigencam': 'EigenCAM',
    'eigengradcam': 'EigenGradCAM',
}


def require_package() -> None:
    """Check that the package grad-cam is there, without importing it.

    Raises:
        ImportError: If it is missing; the message names the command that installs it.
    """
    if find_spec('pytorch_grad_cam') is None:
        raise ImportError(
            'heat maps need the package grad-cam, which is not installed: run '
            "'pip install -r requirements/explain.txt'."
        )


def cam_class(method: str) -> Any:
    """The class of a method.

    Raises:
        ImportError: See :func:`require_package`.
        ValueError: If there is no such method.
    """
    if method not in METHODS:
        raise ValueError(f'unknown method {method!r}; choose from {", ".join(METHODS)}')
    require_package()
    return getattr(importlib.import_module('pytorch_grad_cam'), METHODS[method])
