"""The demo: ML-GCN with ShuffleMix beside a plain baseline on the built-in digit canvases."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rich.progress import track

from mmshufflemix.checkpoint import latest_checkpoint
from mmshufflemix.datasets.digits_files import write_digits
from mmshufflemix.demo_pictures import draw_curves, draw_predictions
from mmshufflemix.files import check_folder
from mmshufflemix.text import align_table

__all__ = ['METHODS', 'Outcome', 'comparison_table', 'prior_map', 'run_demo']

METHODS = {'ML-GCN + ShuffleMix': 'mlgcn_shufflemix', 'plain baseline': 'resnet_baseline'}

_TRAIN_LINE = re.compile(r'Epoch\(train\) +\[(\d+)\].*\bloss: ([\d.]+|nan)')
_VAL_LINE = re.compile(r'Epoch\(val\) +\[(\d+)\].*multi-label/mAP: ([\d.]+)')


@dataclass
class Outcome:
    """What one method gave.

    Attributes:
        losses: Training loss by epoch.
        val_maps: mAP in percent by epoch, where it was measured.
        report: Content of ``multi_label_report.json`` of the final test.
        records: Predictions by image, as ``tools/test.py --out`` writes them.
    """

    losses: dict[int, float] = field(default_factory=dict)
    val_maps: dict[int, float] = field(default_factory=dict)
    report: dict[str, Any] = field(default_factory=dict)
    records: list[dict[str, Any]] = field(default_factory=list)


def run_demo(
    repo: Path,
    work_dir: Path,
    seed: int = 0,
    epochs: int = 80,
    n_train: int = 300,
    n_test: int = 600,
) -> dict[str, Outcome]:
    """Build the data if missing, train and test both methods, print and draw the results.

    Training and testing are the project's own ``tools/train.py`` and ``tools/test.py`` in processes
    of their own.

    Args:
        repo: Checkout that has ``configs`` and ``tools``; the data goes below its ``data``.
        work_dir: Folder for logs, checkpoints, ``predictions.png`` and ``training_curve.png``.
        seed: Seed of the training; the data is the same for all seeds.
        epochs: Epochs of each training, at least 1.
        n_train: Training canvases.
        n_test: Test canvases.

    Raises:
        ValueError: ``epochs`` is below 1, or the work folder takes no files.
        RuntimeError: A tool failed; the message is its own.
    """
    if epochs < 1:
        raise ValueError(f'the demo needs at least 1 epoch, got {epochs}')
    work_dir = work_dir.absolute()
    check_folder(work_dir, '--work-dir')
    progress = partial(track, description='drawing digit canvases')
    data_root = write_digits(repo / 'data' / 'digits_voc', n_train, n_test, progress=progress)
    print(f'data: {n_train} training and {n_test} test canvases in {data_root}')
    outcomes = {
        title: _run_method(repo, work_dir / config, config, seed, epochs, title)
        for title, config in METHODS.items()
    }
    print(f'\nAP on the {n_test} test canvases, in percent, seed {seed}, {epochs} epochs')
    print(comparison_table({title: outcome.report for title, outcome in outcomes.items()}))
    title, outcome = next(iter(outcomes.items()))
    predictions, curve = work_dir / 'predictions.png', work_dir / 'training_curve.png'
    draw_predictions(predictions, title, outcome.records, _class_names(outcome.report))
    draw_curves(
        curve, {title: (outcome.losses, outcome.val_maps) for title, outcome in outcomes.items()}
    )
    print(f'\npictures: {predictions}\n          {curve}')
    return outcomes


def comparison_table(reports: dict[str, dict[str, Any]]) -> str:
    """Put AP by class and mAP of several methods side by side, with the class prior last.

    Args:
        reports: By method, the content of its ``multi_label_report.json``.
    """
    first = next(iter(reports.values()))
    columns = [[row['AP'] for row in report['classes']] for report in reports.values()]
    columns.append(_priors(first))
    means = [report['metrics']['mAP'] for report in reports.values()]
    lines = [['class', *reports, 'class prior']]
    for name, *values in zip(_class_names(first), *columns, strict=True):
        lines.append([name, *map(_number, values)])
    lines.append(['mAP', *map(_number, [*means, prior_map(first)])])
    return align_table(lines)


def prior_map(report: dict[str, Any]) -> float:
    """Expected mAP in percent of a model that ranks at random: the mean share of positives."""
    priors = [prior for prior in _priors(report) if prior > 0]
    return sum(priors) / len(priors)


def _priors(report: dict[str, Any]) -> list[float]:
    return [
        100 * row['positives'] / (report['images'] - row['difficult']) for row in report['classes']
    ]


def _class_names(report: dict[str, Any]) -> list[str]:
    return [row['class'] for row in report['classes']]


def _number(value: float | None) -> str:
    return '-' if value is None else f'{value:.1f}'


def _run_method(
    repo: Path, folder: Path, config: str, seed: int, epochs: int, title: str
) -> Outcome:
    """Train and test one config."""
    config_file = f'configs/digits/{config}.py'
    outcome = Outcome()
    print(f'\n{title}: training with {config_file}')
    options = [f'randomness.seed={seed}', f'train_cfg.max_epochs={epochs}']
    if config.startswith('mlgcn'):
        options.append(f'model.head.label_graph={folder / "label_graph.npz"}')
    train = ['tools/train.py', config_file, '--work-dir', str(folder), '--cfg-options', *options]
    for line in _lines_of(repo, train):
        if found := _TRAIN_LINE.search(line):
            outcome.losses[int(found[1])] = float(found[2])
        elif found := _VAL_LINE.search(line):
            epoch, value = int(found[1]), float(found[2])
            outcome.val_maps[epoch] = value
            loss = outcome.losses.get(epoch, float('nan'))
            print(f'  epoch {epoch:>3}/{epochs}  loss {loss:.3f}  mAP {value:.1f}', flush=True)
    tested = folder / 'test'
    predictions = tested / 'predictions.json'
    test = ['tools/test.py', config_file, str(latest_checkpoint(folder)), '--out', str(predictions)]
    test += ['--work-dir', str(tested), '--cfg-options', f'test_evaluator.out_dir={tested}']
    for _ in _lines_of(repo, test):
        pass
    outcome.report = json.loads((tested / 'multi_label_report.json').read_text(encoding='utf-8'))
    outcome.records = json.loads(predictions.read_text(encoding='utf-8'))
    for record in outcome.records:
        # The tools run in the checkout, the demo may have been called from elsewhere.
        record['img_path'] = str(repo / record['img_path'])
    return outcome


def _lines_of(repo: Path, arguments: Sequence[str]) -> Iterator[str]:
    """Run one of the tools and give its output line by line.

    Raises:
        RuntimeError: If it ends with an error, in the tool's own words.
    """
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=repo,
        env={**os.environ, 'PYTHONUNBUFFERED': '1'},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    last = 'it said nothing'
    try:
        for line in process.stdout:
            last = line.strip() or last
            yield line
        status = process.wait()
    finally:
        # Ends the tool too if the demo is interrupted; does nothing once it has ended.
        process.terminate()
        process.wait()
    if status:
        raise RuntimeError(f'{" ".join(arguments[:2])} failed: {last.removeprefix("error: ")}')
