"""Which trainings a table asks for, where they are kept and how far they are."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from mmengine.config import Config

from mmshufflemix.checkpoint import latest_checkpoint
from mmshufflemix.reproduce.fingerprint import file_digests, flat_settings
from mmshufflemix.reproduce.rows import Row, Table
from mmshufflemix.reproduce.settings import SEED_SETTING, row_config, with_seed

__all__ = [
    'Job',
    'Step',
    'choose_rows',
    'plan_jobs',
    'row_folder',
    'starting_point',
    'table_folder',
]


@dataclass(frozen=True)
class Step:
    """A part of a job with a folder, a lock and a result of its own."""

    folder: Path
    settings: Mapping[str, Any]

    @property
    def lock(self) -> Path:
        """The lock lies beside the folder, which can then be moved."""
        return self.folder.with_name(f'{self.folder.name}.lock')

    @property
    def result(self) -> Path:
        """Exists once the step is finished."""
        return self.folder / 'result.json'

    @property
    def fingerprint(self) -> Path:
        """The settings that the folder was begun with."""
        return self.folder / 'settings.json'


@dataclass(frozen=True)
class Job:
    """One row with one seed: a training, and what is measured of it afterwards.

    Attributes:
        full_epochs: Epochs of the experiment before anything was shortened.
        options: The user's changes of the config.
    """

    row: Row
    seed: int
    cfg: Config
    full_epochs: int
    options: Mapping[str, Any]
    training: Step
    noise: Step | None

    @property
    def name(self) -> str:
        """For messages."""
        return f'{self.row.name} seed {self.seed}'

    @property
    def epochs(self) -> int:
        """Epochs that are trained."""
        return self.cfg.train_cfg.max_epochs

    @property
    def steps(self) -> tuple[Step, ...]:
        """In order; the result of the last one is that of the job."""
        return (self.training,) if self.noise is None else (self.training, self.noise)

    @property
    def done(self) -> bool:
        """Whether nothing is left to run."""
        return all(step.result.is_file() for step in self.steps)


def plan_jobs(
    table: Table,
    rows: Sequence[Row],
    seeds: Sequence[int],
    out: Path,
    configs: Path,
    epochs: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> list[Job]:
    """List the jobs of some rows, all of the first seed first.

    Raises:
        ValueError: If a seed is out of range, the options set what the tool sets, or a config
            cannot be used.
    """
    taken = {SEED_SETTING, 'work_dir'} & set(options or {})
    if taken:
        raise ValueError(
            f'--cfg-options sets {", ".join(sorted(taken))}; use --seeds and --out for these'
        )
    for seed in seeds:
        if not 0 <= seed < 2**32:
            raise ValueError(f'seeds must lie in [0, 2^32), got {seed}')
    configured = []
    for row in rows:
        cfg, full = row_config(row, configs, epochs, options)
        # Large files are read once, not for every seed.
        configured.append((row, cfg, full, file_digests(flat_settings(cfg))))
    jobs = []
    for seed in seeds:
        for row, unseeded, full, digests in configured:
            cfg = with_seed(unseeded, seed)
            settings = {**flat_settings(cfg), **digests}
            training = row_folder(out, table, row, epochs, training=True) / f'seed_{seed}'
            noise = None
            if table.noise:
                folder = row_folder(out, table, row, epochs) / f'seed_{seed}'
                noise = Step(folder, {**settings, 'noise': "the paper's levels, 5 seeds"})
            step = Step(training, settings)
            jobs.append(Job(row, seed, cfg, full, dict(options or {}), step, noise))
    return jobs


def row_folder(
    out: Path, table: Table, row: Row, epochs: int | None, training: bool = False
) -> Path:
    """Return the folder of the results of a row, or of its training.

    Shortened runs have a folder of their own, and a row that is an experiment of another table too
    is trained in the folder of that one. The two differ only for what is measured under noise.
    """
    name, row_name = table.name, row.name
    if row.home is not None and (training or not table.noise):
        name, row_name = row.home, row.home_name or row.name
    return table_folder(out, name, epochs) / row_name


def table_folder(out: Path, name: str, epochs: int | None) -> Path:
    """Return the folder of a table."""
    return out / (name if epochs is None else f'{name}_{epochs}_epochs')


def choose_rows(
    table: Table, methods: Sequence[str] | None = None, patterns: Sequence[str] | None = None
) -> list[Row]:
    """Pick rows of a table by method and by name.

    Args:
        table: Where to pick from.
        methods: Names of methods; None means all.
        patterns: Shell patterns of row names, one of which has to match; None means all.

    Raises:
        ValueError: If a method is unknown, or a pattern or both together match no row.
    """
    known = list(dict.fromkeys(row.method for row in table.rows))
    unknown = [method for method in methods or [] if method not in known]
    if unknown:
        raise ValueError(
            f'the table {table.name} has no method {unknown[0]!r}; choose from {", ".join(known)}'
        )
    for pattern in patterns or []:
        if not any(fnmatch(row.name, pattern) for row in table.rows):
            names = ', '.join(row.name for row in table.rows)
            raise ValueError(f'no row of {table.name} matches {pattern!r}; there are {names}')
    rows = [
        row
        for row in table.rows
        if (methods is None or row.method in methods)
        and (patterns is None or any(fnmatch(row.name, pattern) for pattern in patterns))
    ]
    if not rows:
        raise ValueError(f'no row of {table.name} is of these methods and has such a name')
    return rows


def starting_point(folder: Path, epochs: int) -> Path | None:
    """Find the checkpoint from which a training whose last validation is missing goes on.

    That is the newest complete one. If a training was stopped between its last checkpoint and the
    validation after it, nothing would be left to train, and the one before it is taken.

    Returns:
        The path, or None to start from the beginning.
    """
    newest = latest_checkpoint(folder)
    if newest is None or newest.name != f'epoch_{epochs}.pth':
        return newest
    for epoch in range(epochs - 1, 0, -1):
        path = folder / f'epoch_{epoch}.pth'
        if zipfile.is_zipfile(path):
            return path
    return None
