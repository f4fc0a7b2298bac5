"""Made-up results, and a small table that really runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mmshufflemix.files import write_json
from mmshufflemix.reproduce import Metric, PaperValue, Row, Table

TOP1 = Metric('accuracy/top1', 'top-1 accuracy')


def tiny_table(config: Path, name: str = 'tiny_job') -> Table:
    """Two rows of the job of ``tests/tiny_job.py``."""
    return Table(
        name,
        'Tiny job',
        (TOP1,),
        (
            Row('half', 'shufflemix', str(config), paper={TOP1.key: PaperValue(50.0, 0.5)}),
            Row('most', 'other', str(config), {'model.train_cfg.augments.ratio': 0.75}),
        ),
    )


def write_result(
    folder: Path,
    seed: int,
    measures: Mapping[str, float],
    validations: Mapping[int, Mapping[str, float]] | None = None,
    **changes: Any,
) -> None:
    """Write what a finished run of a row leaves behind."""
    result = {
        'row': folder.name,
        'seed': seed,
        'epochs': 2,
        'full_epochs': 2,
        'options': {},
        'measures': dict(measures),
        'validations': dict(validations or {}),
    }
    write_json(folder / f'seed_{seed}' / 'result.json', result | changes)
