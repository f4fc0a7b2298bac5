"""Gather the results of a table and put them beside the paper's."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmshufflemix.json_reading import parse_json
from mmshufflemix.reproduce.guard import is_run
from mmshufflemix.reproduce.jobs import row_folder
from mmshufflemix.reproduce.rows import Metric, PaperValue, Row, Table

__all__ = ['Cell', 'RowResults', 'collect_table', 'mean', 'sample_std']


@dataclass(frozen=True)
class RowResults:
    """The finished runs of one row, by seed, as their ``result.json`` has them."""

    row: Row
    runs: Mapping[int, Mapping[str, Any]]

    def cell(self, metric: Metric) -> Cell:
        """Return the values of one metric."""
        values = {
            seed: run['measures'][metric.key]
            for seed, run in self.runs.items()
            if metric.key in run['measures']
        }
        return Cell(values, self.row.paper.get(metric.key))

    def along_epochs(self, metric: Metric) -> dict[int, Cell]:
        """Return the values of one metric after each epoch that was validated."""
        epochs = sorted({int(epoch) for run in self.runs.values() for epoch in run['validations']})
        found = {}
        for epoch in epochs:
            values = {
                seed: run['validations'][str(epoch)][metric.key]
                for seed, run in self.runs.items()
                if metric.key in run['validations'].get(str(epoch), {})
            }
            if values:
                found[epoch] = Cell(values, None)
        return found


@dataclass(frozen=True)
class Cell:
    """Ours by seed, and the paper's."""

    values: Mapping[int, float]
    paper: PaperValue | None

    @property
    def mean(self) -> float | None:
        """Mean over the seeds, None without any."""
        return mean(list(self.values.values()))

    @property
    def std(self) -> float | None:
        """Sample standard deviation over the seeds, None with fewer than two."""
        return sample_std(list(self.values.values()))


def mean(values: list[float]) -> float | None:
    """Return the mean, or None of nothing."""
    return statistics.fmean(values) if values else None


def sample_std(values: list[float]) -> float | None:
    """Return the standard deviation with n - 1 in the denominator, or None for fewer than two."""
    return statistics.stdev(values) if len(values) > 1 else None


def collect_table(table: Table, out: Path, epochs: int | None = None) -> list[RowResults]:
    """Read the results of all rows and of all seeds in a folder.

    Args:
        table: Which.
        out: Folder of all tables.
        epochs: Of shortened runs, which have a folder of their own.

    Returns:
        All rows of the table in its order, those without results too.

    Raises:
        ValueError: If a result cannot be read.
    """
    return [RowResults(row, _read_runs(row_folder(out, table, row, epochs))) for row in table.rows]


def _read_runs(folder: Path) -> dict[int, dict[str, Any]]:
    runs = {}
    for path in folder.glob('seed_*/result.json'):
        if not is_run(path.parent):
            continue
        try:
            run = parse_json(path.read_bytes())
            runs[int(run['seed'])] = run
            complete = run.keys() >= {'epochs', 'full_epochs', 'measures', 'validations'}
        except (ValueError, KeyError, TypeError):
            complete = False
        if not complete:
            raise ValueError(f"'{path}' is no result; move its folder away and run the row again")
    return dict(sorted(runs.items()))
