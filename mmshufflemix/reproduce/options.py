"""Refuse changes of settings that would leave a table without a meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mmengine.config import Config

from mmshufflemix.option_names import check_names, unknown_names
from mmshufflemix.prepare import read_config
from mmshufflemix.reproduce.rows import Row, Table

__all__ = ['check_options']


def check_options(
    table: Table, rows: Sequence[Row], configs: Path, options: Mapping[str, Any] | None
) -> None:
    """Check the user's changes before anything is trained.

    Args:
        table: None of what its rows differ in may be changed, also for some of them only.
        rows: Those that are to be run; each of their configs has to know the names.
        configs: Folder that the rows' configs are relative to.
        options: The user's changes, by dotted name.

    Raises:
        ValueError: If they set what the rows of the table themselves set, or have a name that
            nothing reads, or that the config has copied.
    """
    if not options:
        return
    own = sorted({name for row in table.rows for name in row.options})
    for given in options:
        for name in own:
            if f'{given}.'.startswith(f'{name}.') or f'{name}.'.startswith(f'{given}.'):
                raise ValueError(
                    f'--cfg-options sets {given}, but the rows of the table {table.name} differ in '
                    f'{name}; leave it out and choose rows by --rows, or train other values by '
                    'tools/train.py'
                )
    checked = set()
    for row in rows:
        # Rows of one config have changes of values only.
        if row.config in checked:
            continue
        checked.add(row.config)
        before = read_config(str(configs / row.config), dict(row.options))
        check_names(before, options)
        after = Config(before.to_dict())
        after.merge_from_dict(dict(options))
        for sentence in unknown_names(before.to_dict(), after.to_dict(), options):
            raise ValueError(f'{sentence} (row {row.name})')
