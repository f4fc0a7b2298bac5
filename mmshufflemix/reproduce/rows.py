"""What a table of experiments consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ['Metric', 'PaperValue', 'Row', 'Table']


@dataclass(frozen=True)
class Metric:
    """A number that is measured for every row.

    Attributes:
        key: Name in MMEngine's log of the validation, such as ``accuracy/top1``; for noise,
            ``clean`` or ``<noise>/<level>``.
        label: Name for readers.
        unit: Unit for readers.
    """

    key: str
    label: str
    unit: str = '%'


@dataclass(frozen=True)
class PaperValue:
    """A number of the paper, with its standard deviation over trials where it gives one."""

    mean: float
    std: float | None = None


@dataclass(frozen=True)
class Row:
    """One experiment: a config, and what is changed in it.

    Attributes:
        name: Unique in its table; the name of a folder.
        method: What ``--methods`` filters by.
        config: Config file, relative to ``configs/`` of the project, or absolute.
        options: Changed settings, by dotted name.
        kept: Share of each training class to keep, in (0, 1].
        home: Table in whose folder the training lives, where this row is an experiment of another
            table too; None means its own. ``home_name`` is its name there.
        panel: Figure only: title of the panel.
        curve: Figure only: name in the legend.
        x: Figure only: place on the horizontal axis.
        paper: The paper's numbers by metric key.
    """

    name: str
    method: str
    config: str
    options: Mapping[str, Any] = field(default_factory=dict)
    kept: float | None = None
    home: str | None = None
    home_name: str | None = None
    panel: str = ''
    curve: str = ''
    x: float | None = None
    paper: Mapping[str, PaperValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """Rows that are compared by the same metrics.

    Attributes:
        name: What the user types; the name of a folder.
        title: One line for readers, with the place in the paper.
        metrics: The first is the main one.
        rows: In the order of the paper.
        figure: ``'sweep'`` draws the main metric along ``x``, ``'noise'`` along noise levels,
            ``'epochs'`` along the training; None draws nothing.
        x_label: Of a sweep.
        log_x: Doublings of ``x`` are equally far apart.
        noise: Whether trained rows are then measured under noise.
    """

    name: str
    title: str
    metrics: tuple[Metric, ...]
    rows: tuple[Row, ...]
    figure: str | None = None
    x_label: str = ''
    log_x: bool = False
    noise: bool = False
