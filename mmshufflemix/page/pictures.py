"""Charts and photographs as parts of a page."""

from __future__ import annotations

import base64
import io
from pathlib import Path

from markupsafe import Markup, escape
from matplotlib import rc_context
from matplotlib.figure import Figure
from PIL import Image, ImageOps

__all__ = ['embed_figure', 'embed_picture']


def embed_figure(figure: Figure, description: str) -> Markup:
    """Embed a chart as SVG, sharp at every size.

    Args:
        figure: The chart.
        description: What it shows, for those who cannot see it.
    """
    buffer = io.BytesIO()
    # The same page for the same data.
    with rc_context({'svg.hashsalt': 'page'}):
        figure.savefig(buffer, format='svg', bbox_inches='tight', metadata={'Date': None})
    return _image('svg+xml', buffer.getvalue(), description)


def embed_picture(source: str | Path | Image.Image, description: str, side: int = 160) -> Markup:
    """Embed a small JPEG copy of a picture.

    Args:
        source: A file or an open picture.
        description: What it shows, for those who cannot see it.
        side: Longest side of the copy in pixels.

    Raises:
        OSError: If the file cannot be read as a picture.
    """
    if isinstance(source, str | Path):
        with Image.open(source) as picture:
            picture.draft('RGB', (2 * side, 2 * side))
            return embed_picture(ImageOps.exif_transpose(picture), description, side)
    small = source.convert('RGB')
    small.thumbnail((side, side))
    buffer = io.BytesIO()
    small.save(buffer, format='JPEG', quality=80)
    return _image('jpeg', buffer.getvalue(), description)


def _image(kind: str, content: bytes, description: str) -> Markup:
    data = base64.b64encode(content).decode()
    return Markup('<img src="data:image/{};base64,{}" alt="{}">').format(
        Markup(kind), Markup(data), escape(description)
    )
