"""Check that one of the two OpenMMLab stacks is installed."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import TracebackType

__all__ = ['STACK_PACKAGES', 'require_stack']

STACK_PACKAGES = ('torch', 'mmengine', 'mmcv', 'mmpretrain')


def require_stack() -> None:
    """Check that PyTorch, MMEngine, MMCV and MMPretrain can be imported.

    A program that ends by this error, as the tools of this project do, prints its sentence only.

    Raises:
        ImportError: If one of them is missing; the message names the two sets of requirements.
    """
    missing = [name for name in STACK_PACKAGES if find_spec(name) is None]
    if missing:
        error = ImportError(
            f'mmshufflemix needs {", ".join(missing)}, which is not installed: run '
            "'pip install -r requirements/onedl.txt' (or 'pip install mmshufflemix[onedl]') for "
            "OneDL's maintained packages, or 'pip install -r requirements/official.txt' (or "
            "'pip install mmshufflemix[official]') for OpenMMLab's own last releases."
        )
        _print_without_traceback(error)
        raise error


def _print_without_traceback(error: ImportError) -> None:
    """Let this error end the process in one line; all others are shown as before."""
    show = sys.excepthook

    def hook(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        if value is error:
            print(f'error: {value}', file=sys.stderr)
        else:
            show(kind, value, trace)

    sys.excepthook = hook
