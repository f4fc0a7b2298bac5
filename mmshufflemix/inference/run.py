"""Predict many pictures; a broken one stops nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mmengine.dataset import default_collate
from rich.console import Console
from rich.progress import Progress

from mmshufflemix.inference.draw import draw_result, drawing_files
from mmshufflemix.inference.inferencer import MultiLabelInferencer, in_batches
from mmshufflemix.text import printable

__all__ = ['predict_pictures']

_PACKED = ('inputs', 'data_samples')


def predict_pictures(
    inferencer: MultiLabelInferencer,
    paths: Sequence[str],
    batch_size: int = 1,
    draw_folder: str | Path | None = None,
) -> tuple[list[tuple[str, dict[str, Any]]], list[str]]:
    """Predict pictures in the order given, with a progress bar in a terminal.

    Args:
        inferencer: What predicts.
        paths: Files of pictures.
        batch_size: Pictures at once, at least 1.
        draw_folder: Folder for each picture with its labels; none are drawn by default.

    Returns:
        Pairs of a path and its result, and what was wrong with each picture that was left out,
        which is printed to stderr too.
    """
    files = drawing_files(draw_folder, paths) if draw_folder is not None else None
    predictions: list[tuple[str, dict[str, Any]]] = []
    faults: list[str] = []
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task('pictures', total=len(paths))

        def skip(fault: str) -> None:
            faults.append(fault)
            text = f'skipped {printable(fault)}'
            console.print(text, markup=False, highlight=False, soft_wrap=True)
            bar.advance(task)

        for batch in in_batches(_prepared(inferencer, paths, skip), batch_size):
            collated = default_collate([{key: item[key] for key in _PACKED} for item in batch])
            results = inferencer.postprocess(inferencer.forward(collated))
            for item, result in zip(batch, results, strict=True):
                index = item['index']
                predictions.append((paths[index], result))
                if files is not None:
                    draw_result(files[index], paths[index], result)
                bar.advance(task)
    return predictions, faults


def _prepared(
    inferencer: MultiLabelInferencer, paths: Sequence[str], skip: Callable[[str], None]
) -> Iterator[dict[str, Any]]:
    for index, path in enumerate(paths):
        try:
            loaded = inferencer.load(path)
        except ValueError as error:
            skip(str(error))
        else:
            yield {**inferencer.pipeline(loaded), 'index': index}
