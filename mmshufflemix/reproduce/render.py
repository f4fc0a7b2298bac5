"""Write a table as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from mmshufflemix.reproduce.collect import Cell, RowResults
from mmshufflemix.reproduce.rows import PaperValue, Table

__all__ = ['as_csv', 'as_json', 'as_markdown', 'describe_length', 'notes']

NOT_RUN = 'not run'


def as_markdown(table: Table, results: Sequence[RowResults], failures: Sequence[str] = ()) -> str:
    """Write mean ± sample standard deviation of ours beside the paper's, where it has any.

    Args:
        table: What the results belong to.
        results: All rows.
        failures: A sentence for each run that failed.
    """
    several = len(table.metrics) > 1
    known = any(row.row.paper for row in results)
    unit = table.metrics[0].unit
    what = '' if several else f' ({table.metrics[0].label}, {unit})'
    head = ['row', *(['measure'] if several else []), f'ours{what}']
    head += [f"the paper's{what}"] if known else []
    lines = [f'## {table.title}', '', _line(head), _line(['---'] * len(head))]
    for row in results:
        for metric in table.metrics:
            cell = row.cell(metric)
            measure = [f'{metric.label} ({metric.unit})'] if several else []
            paper = [_paper(cell.paper)] if known else []
            lines.append(_line([row.row.name, *measure, _ours(cell), *paper]))
    remarks = [*notes(results), *failures]
    if remarks:
        lines += ['', *(f'- {remark}' for remark in remarks)]
    return '\n'.join(lines) + '\n'


def as_csv(table: Table, results: Sequence[RowResults]) -> str:
    """Write a line for each row and metric, with a column for each seed."""
    seeds = sorted({seed for row in results for seed in row.runs})
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator='\n')
    ours = ['ours_mean', 'ours_std', 'seeds']
    paper = ['paper_mean', 'paper_std']
    by_seed = [f'seed_{seed}' for seed in seeds]
    writer.writerow(['row', 'metric', 'unit', *ours, *paper, 'length', 'options', *by_seed])
    for row in results:
        for metric in table.metrics:
            cell = row.cell(metric)
            known = cell.paper or PaperValue(float('nan'))
            writer.writerow(
                [
                    row.row.name,
                    metric.key,
                    metric.unit,
                    NOT_RUN if cell.mean is None else cell.mean,
                    '' if cell.std is None else cell.std,
                    len(cell.values),
                    '' if cell.paper is None else known.mean,
                    '' if known.std is None else known.std,
                    describe_length(row),
                    '; '.join(dict.fromkeys(filter(None, map(_options, row.runs.values())))),
                    *(cell.values.get(seed, '') for seed in seeds),
                ]
            )
    return buffer.getvalue()


def as_json(
    table: Table, results: Sequence[RowResults], failures: Sequence[str] = ()
) -> dict[str, Any]:
    """Return everything as plain data; what was not run is None."""
    rows = []
    for row in results:
        for metric in table.metrics:
            cell = row.cell(metric)
            rows.append(
                {
                    'row': row.row.name,
                    'metric': metric.key,
                    'unit': metric.unit,
                    'ours': {'mean': cell.mean, 'std': cell.std, 'values': dict(cell.values)},
                    'paper': cell.paper and {'mean': cell.paper.mean, 'std': cell.paper.std},
                    'length': describe_length(row),
                }
            )
    remarks = [*notes(results), *failures]
    return {'table': table.name, 'title': table.title, 'notes': remarks, 'rows': rows}


def describe_length(results: RowResults) -> str:
    """Say how long a row was trained: ``200 epochs``, or ``shortened to 5 of 200 epochs``."""
    lengths = {(run['epochs'], run['full_epochs']) for run in results.runs.values()}
    return '; '.join(
        f'{full} epochs' if epochs == full else f'shortened to {epochs} of {full} epochs'
        for epochs, full in sorted(lengths)
    )


def notes(results: Sequence[RowResults]) -> list[str]:
    """Say in what the runs differ from the experiments of the paper."""
    remarks: dict[str, list[str]] = {}
    for row in results:
        length = describe_length(row)
        if 'shortened' in length:
            remarks.setdefault(length, []).append(row.row.name)
        for run in row.runs.values():
            options = _options(run)
            if options:
                remarks.setdefault(f'with --cfg-options {options}', []).append(row.row.name)
            if run.get('class_vectors'):
                vectors = f'class vectors from {run["class_vectors"]}'
                remarks.setdefault(vectors, []).append(row.row.name)
    ran = [row.row.name for row in results if row.runs]
    return [
        f'{remark}: {"all that was run" if set(names) == set(ran) else ", ".join(names)}'
        for remark, names in ((key, list(dict.fromkeys(value))) for key, value in remarks.items())
    ]


def _options(run: Mapping[str, Any]) -> str:
    return ' '.join(f'{key}={value}' for key, value in run.get('options', {}).items())


def _ours(cell: Cell) -> str:
    if cell.mean is None:
        return NOT_RUN
    count = len(cell.values)
    spread = '' if cell.std is None else f' ± {cell.std:.2f}'
    return f'{cell.mean:.2f}{spread} ({count} {"seed" if count == 1 else "seeds"})'


def _paper(value: PaperValue | None) -> str:
    if value is None:
        return ''
    return f'{value.mean:.2f}' + ('' if value.std is None else f' ± {value.std:.3f}')


def _line(cells: Sequence[str]) -> str:
    return f'| {" | ".join(cells)} |'
