"""Write figures so that a reader never sees half of one."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from mmshufflemix.files import write_bytes

__all__ = ['check_picture_file', 'save_figure']


def check_picture_file(path: str | Path) -> str:
    """Return the format that the ending of a file names: png, pdf, svg and others.

    Raises:
        ValueError: If it is none that can be written.
    """
    kinds = Figure().canvas.get_supported_filetypes()
    kind = Path(path).suffix[1:].lower()
    if kind not in kinds:
        raise ValueError(
            f'cannot write a picture to {path}; expected an ending of {", ".join(sorted(kinds))}'
        )
    return kind


def save_figure(figure: Figure, path: str | Path, **options: Any) -> None:
    """Write a figure in the format of the file's ending, under a temporary name first.

    Args:
        figure: What to write.
        path: The file.
        **options: Arguments of Matplotlib's ``savefig``, such as ``dpi``.

    Raises:
        ValueError: See :func:`check_picture_file`.
    """
    buffer = io.BytesIO()
    figure.savefig(buffer, format=check_picture_file(path), **options)
    write_bytes(path, buffer.getvalue())
