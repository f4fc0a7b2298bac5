"""Explain many pictures; a broken one stops nothing."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from mmshufflemix.explain.draw import MAX_SIDE, draw_heat_maps
from mmshufflemix.explain.heat_maps import HeatMaps, class_indices, explain_loaded
from mmshufflemix.explain.inferencer import AnyHeadInferencer
from mmshufflemix.explain.methods import cam_class
from mmshufflemix.explain.network import still
from mmshufflemix.files import write_bytes
from mmshufflemix.inference.draw import drawing_files
from mmshufflemix.layers import LayerSite
from mmshufflemix.text import printable

__all__ = ['explain_pictures']


def explain_pictures(
    inferencer: AnyHeadInferencer,
    paths: Sequence[str],
    folder: str | Path,
    classes: Sequence[str] | None = None,
    method: str = 'gradcam',
    layer: str | int | None = None,
    raw: bool = False,
) -> tuple[list[tuple[str, dict[str, Any]]], list[str]]:
    """Draw each picture with its heat maps into a folder, with a progress bar in a terminal.

    Args:
        inferencer: What predicts.
        paths: Files of pictures.
        folder: Folder of the PNG files, which are named as the pictures.
        classes: See :func:`~mmshufflemix.explain.heat_maps.heat_maps`.
        method: Likewise.
        layer: Likewise.
        raw: Write also an ``.npz`` file with ``maps`` (n, H, W) of the picture's size, ``names``,
            ``scores`` and ``reached``.

    Returns:
        Pairs of a path and the ``names`` and ``scores`` of what is explained, with ``reached``,
        whether each is predicted; and what was wrong with each picture that was left out, which
        is printed to stderr too.

    Raises:
        ImportError: If the package grad-cam is missing.
        ValueError: If a class, the method or the layer is unknown.
    """
    cam_class(method)
    labels = class_indices(inferencer, classes)
    side = None if raw else MAX_SIDE
    explained: list[tuple[str, dict[str, Any]]] = []
    faults: list[str] = []
    found: str | int | LayerSite | None = layer
    console = Console(stderr=True)
    jobs = list(zip(paths, drawing_files(folder, paths), strict=True))
    for path, file in track(jobs, 'pictures', console=console, disable=not console.is_terminal):
        try:
            loaded = inferencer.load(path)
        except ValueError as error:
            faults.append(str(error))
            text = f'skipped {printable(str(error))}'
            console.print(text, markup=False, highlight=False, soft_wrap=True)
            continue
        with still(inferencer.model):
            heat = explain_loaded(inferencer, loaded, labels, method, found, side)
        found = heat.layer
        draw_heat_maps(file, heat, method, asked=bool(classes))
        if raw:
            _write_raw(file.with_suffix('.npz'), heat)
        explained.append(
            (path, {'names': heat.names, 'scores': heat.scores, 'reached': heat.reached})
        )
    return explained, faults


def _write_raw(path: Path, heat: HeatMaps) -> None:
    buffer = io.BytesIO()
    names = np.array(heat.names, dtype=np.str_)
    np.savez_compressed(
        buffer,
        maps=heat.maps,
        names=names,
        scores=np.array(heat.scores),
        reached=np.array(heat.reached, dtype=bool),
    )
    write_bytes(path, buffer.getvalue())
