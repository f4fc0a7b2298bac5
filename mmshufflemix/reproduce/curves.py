"""What is drawn of a table: panels with curves of ours and of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mmshufflemix.reproduce.collect import Cell, RowResults
from mmshufflemix.reproduce.rows import Table

__all__ = ['Curve', 'Panel', 'table_panels']

NOISE_LABELS = {
    'white': 'White noise level (standard deviation)',
    'salt_pepper': 'Salt & pepper level (first channel)',
}


@dataclass
class Curve:
    """Points of ours (x, mean, standard deviation or 0) and of the paper (x, mean)."""

    ours: list[tuple[float, float, float]] = field(default_factory=list)
    paper: list[tuple[float, float]] = field(default_factory=list)

    def add(self, x: float, cell: Cell) -> None:
        """Add what is known at one place."""
        if cell.mean is not None:
            self.ours.append((x, cell.mean, cell.std or 0.0))
        if cell.paper is not None:
            self.paper.append((x, cell.paper.mean))


@dataclass
class Panel:
    """One pair of axes; curves by their names in the legend."""

    title: str
    x_label: str
    y_label: str
    log_x: bool = False
    curves: dict[str, Curve] = field(default_factory=dict)


def table_panels(table: Table, results: Sequence[RowResults]) -> list[Panel]:
    """Arrange the results of a table that has a figure; see ``Table.figure``.

    Raises:
        ValueError: If it has none.
    """
    if table.figure == 'sweep':
        return _sweep(table, results)
    if table.figure == 'noise':
        return _noise(table, results)
    if table.figure == 'epochs':
        return [_epochs(table, results)]
    raise ValueError(f'the table {table.name} has no figure')


def _sweep(table: Table, results: Sequence[RowResults]) -> list[Panel]:
    metric = table.metrics[0]
    panels: dict[str, Panel] = {}
    y_label = f'Test {metric.label} ({metric.unit})'
    for row in results:
        title = row.row.panel
        panel = panels.setdefault(title, Panel(title, table.x_label, y_label, table.log_x))
        curve = panel.curves.setdefault(row.row.curve, Curve())
        curve.add(row.row.x or 0.0, row.cell(metric))
    return list(panels.values())


def _noise(table: Table, results: Sequence[RowResults]) -> list[Panel]:
    """Each kind of noise begins with the clean accuracy at level 0."""
    panels: dict[tuple[str, str], Panel] = {}
    for row in results:
        for noise, label in NOISE_LABELS.items():
            panel = panels.setdefault(
                (row.row.panel, noise), Panel(row.row.panel, label, 'Test top-1 accuracy (%)')
            )
            curve = panel.curves.setdefault(row.row.curve, Curve())
            for metric in table.metrics:
                kind, _, level = metric.key.partition('/')
                if kind in ('clean', noise):
                    curve.add(float(level or 0), row.cell(metric))
    return list(panels.values())


def _epochs(table: Table, results: Sequence[RowResults]) -> Panel:
    """The paper's number is a level along the whole training."""
    metric = table.metrics[0]
    panel = Panel('', 'Epoch', f'Test {metric.label} ({metric.unit})')
    last = max((max(row.along_epochs(metric), default=1) for row in results), default=1)
    for row in results:
        curve = panel.curves.setdefault(row.row.curve, Curve())
        for epoch, cell in row.along_epochs(metric).items():
            curve.add(epoch, cell)
        known = row.cell(metric).paper
        if known is not None:
            curve.paper += [(1.0, known.mean), (float(last), known.mean)]
    return panel
