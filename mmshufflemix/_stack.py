"""Check that one of the two OpenMMLab stacks is installed."""

from __future__ import annotations

from importlib.util import find_spec

__all__ = ['STACK_PACKAGES', 'require_stack']

STACK_PACKAGES = ('torch', 'mmengine', 'mmcv', 'mmpretrain')


def require_stack() -> None:
    """Check that PyTorch, MMEngine, MMCV and MMPretrain can be imported.

    Raises:
        ImportError: If one of them is missing; the message names the two sets of requirements.
    """
    missing = [name for name in STACK_PACKAGES if find_spec(name) is None]
    if missing:
        raise ImportError(
            f'mmshufflemix needs {", ".join(missing)}, which is not installed: run '
            "'pip install -r requirements/onedl.txt' (or 'pip install mmshufflemix[onedl]') for "
            "OneDL's maintained packages, or 'pip install -r requirements/official.txt' (or "
            "'pip install mmshufflemix[official]') for OpenMMLab's own last releases."
        )
