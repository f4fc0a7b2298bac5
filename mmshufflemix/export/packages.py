"""The packages that only the export needs."""

from __future__ import annotations

from importlib.util import find_spec

__all__ = ['EXPORT_PACKAGES', 'require_packages']

EXPORT_PACKAGES = ('onnx', 'onnxruntime', 'onnxscript')


def require_packages() -> None:
    """Check that what the export needs beside the stack can be imported.

    Raises:
        ImportError: If a package is missing; the message names the command that installs it.
    """
    missing = [name for name in EXPORT_PACKAGES if find_spec(name) is None]
    if missing:
        raise ImportError(
            f'the export needs {", ".join(missing)}, which is not installed: run '
            "'pip install -r requirements/export.txt'."
        )
