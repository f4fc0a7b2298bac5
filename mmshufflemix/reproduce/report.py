"""Write what is known of a table into its folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mmshufflemix.files import write_json, write_text
from mmshufflemix.reproduce.collect import collect_table
from mmshufflemix.reproduce.curves import table_panels
from mmshufflemix.reproduce.figure import draw_panels
from mmshufflemix.reproduce.jobs import table_folder
from mmshufflemix.reproduce.render import as_csv, as_json, as_markdown, notes
from mmshufflemix.reproduce.rows import Table

__all__ = ['write_report']


def write_report(
    table: Table, out: Path, epochs: int | None = None, remarks: Sequence[str] = ()
) -> str:
    """Write ``table.md``, ``table.csv``, ``table.json`` and, for curves, ``figure.png``.

    Args:
        table: Which.
        out: Folder of all tables.
        epochs: Of shortened runs.
        remarks: Sentences to put below the table, such as what failed.

    Returns:
        The Markdown.
    """
    results = collect_table(table, out, epochs)
    folder = table_folder(out, table.name, epochs)
    markdown = as_markdown(table, results, remarks)
    write_text(folder / 'table.md', markdown)
    write_text(folder / 'table.csv', as_csv(table, results))
    write_json(folder / 'table.json', as_json(table, results, remarks))
    if table.figure:
        draw_panels(folder / 'figure.png', table_panels(table, results), notes(results))
    return markdown
