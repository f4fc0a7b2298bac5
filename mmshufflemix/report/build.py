"""Put a report together."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mmshufflemix.evaluation.predictions_file import read_records
from mmshufflemix.page import Section, write_page
from mmshufflemix.report.charts import draw_curves
from mmshufflemix.report.facts import data_folders, run_facts, save_best
from mmshufflemix.report.gallery import Gallery
from mmshufflemix.report.history import main_measure
from mmshufflemix.report.multi_label import multi_label_sections
from mmshufflemix.report.predictions import (
    Predictions,
    find_predictions,
    num_scores,
    to_predictions,
)
from mmshufflemix.report.run import Run, read_run
from mmshufflemix.report.single_label import single_label_sections
from mmshufflemix.report.text import number
from mmshufflemix.report.tuned import read_thresholds, threshold_sections
from mmshufflemix.text import printable

__all__ = ['Sources', 'write_report']


@dataclass(frozen=True)
class Sources:
    """What a report is made from.

    Attributes:
        work_dir: Folder of the run.
        predictions: File of ``tools/test.py --out``; else the newest one in the folder.
        thresholds: File of ``tools/tune_thresholds.py``.
        config: Instead of the config in the folder.
        pictures: Folders that pictures may be read from, instead of those of the test set.
    """

    work_dir: Path
    predictions: Path | None = None
    thresholds: Path | None = None
    config: Path | None = None
    pictures: Sequence[Path] = field(default_factory=list)


def write_report(output: str | Path, sources: Sources, top: int = 5) -> list[str]:
    """Write the report of a run as one HTML file.

    Args:
        output: The file.
        sources: What it is made from.
        top: How many mistakes a list has, at least 1.

    Returns:
        What is missing in the report, as the report says too.

    Raises:
        FileNotFoundError: If a given file or the folder is missing.
        ValueError: If the folder holds no training, or what was given cannot be used.
    """
    if top < 1:
        raise ValueError(f'top must be at least 1, got {top}')
    run = read_run(sources.work_dir, sources.config)
    notes = list(run.notes)
    predictions = _predictions(run, sources, notes)
    gallery = Gallery(sources.pictures or data_folders(run.config))
    sections = [_curves(run, notes)]
    names = predictions.names if predictions else run.classes
    tuned = _thresholds(sources, names)
    if predictions is not None:
        if tuned and predictions.single:
            raise ValueError('thresholds are for several labels an image, but this run has one')
        if predictions.single:
            sections += single_label_sections(predictions, gallery, top)
        else:
            cuts = tuned[0] if tuned else np.full(len(predictions.names), 0.5)
            sections += multi_label_sections(predictions, cuts, gallery, top)
    if tuned and names:
        sections += threshold_sections(names, *tuned, predictions)
    elif predictions is not None and not predictions.single:
        notes.append('No table of thresholds, which --thresholds FILE adds.')
    notes += gallery.notes()
    if notes:
        sections.insert(0, Section('What is missing', notes))
    if run.config_text:
        sections.append(Section('Config', [printable(str(run.config_file))], code=run.config_text))
    write_page(output, f'Run of {run.name}', run_facts(run), sections)
    return notes


def _curves(run: Run, notes: list[str]) -> Section:
    history = run.history
    measure = main_measure(history.validations, save_best(run.config))
    if measure is None:
        notes.append('No validation was logged, so that there is no curve of it.')
    losses = history.steps('loss')
    broken = [place for place, loss in losses if not math.isfinite(loss)]
    if not losses:
        notes.append('No training loss was logged.')
    if broken:
        unit = 'epoch' if history.by_epoch else 'iteration'
        notes.append(
            f'The loss was no finite number at {len(broken)} of {len(losses)} logged steps, first '
            f'at {unit} {number(broken[0])}; curves have gaps there.'
        )
    return Section('Curves', figures=draw_curves(history, measure))


def _predictions(run: Run, sources: Sources, notes: list[str]) -> Predictions | None:
    """Errors in a file that was found, not given, are no reason to make no report."""
    path = sources.predictions or find_predictions(run.folder)
    if path is None:
        notes.append(
            'No predictions are in the folder, so that tables of classes and mistakes are left '
            f'out; make some by: {_test_command(run)}'
        )
        return None
    try:
        found = _read_predictions(path, run)
    except (OSError, ValueError) as error:
        if sources.predictions:
            raise
        notes.append(
            f'The predictions found in the folder are not used: {printable(str(error))}; '
            f'make new ones by: {_test_command(run)}'
        )
        return None
    if run.classes is None:
        notes.append('The names of the classes are unknown, so that they are numbered from 0.')
    if run.checkpoint and run.checkpoint.stat().st_mtime > path.stat().st_mtime:
        notes.append(
            f'The predictions ({printable(str(path))}) are older than the newest checkpoint '
            f'({run.checkpoint.name}), so they may be of an earlier one.'
        )
    return found


def _read_predictions(path: Path, run: Run) -> Predictions:
    records = read_records(path)
    found, head = num_scores(records), (run.config.get('model') or {}).get('head') or {}
    wanted = len(run.classes) if run.classes else head.get('num_classes')
    if isinstance(wanted, int) and wanted != found:
        raise ValueError(
            f"'{path}' has {found} scores for each image but the run has {wanted} classes; give "
            'predictions of this run'
        )
    predictions = to_predictions(records, run.classes or [str(index) for index in range(found)])
    if not (predictions.targets & predictions.valid).any():
        raise ValueError(f"'{path}' has no image with a label; give predictions of a labelled set")
    return predictions


def _thresholds(
    sources: Sources, names: Sequence[str] | None
) -> tuple[np.ndarray, dict[str, Any]] | None:
    if sources.thresholds is None:
        return None
    if names is None:
        raise ValueError(
            'thresholds need the names of the classes, which neither the config nor a checkpoint '
            'of this run has; give --config or --predictions too'
        )
    return read_thresholds(sources.thresholds, names)


def _test_command(run: Run) -> str:
    config = str(run.config_file or 'CONFIG')
    checkpoint = str(run.checkpoint or 'CHECKPOINT')
    out = str(run.folder / 'predictions.json')
    return printable(shlex.join(['python', 'tools/test.py', config, checkpoint, '--out', out]))
