"""Labels from a text list: a line for each picture."""

from __future__ import annotations

import re
from pathlib import Path

from mmshufflemix.label_files.table import LabelRow, LabelTable, read_lines, unique

__all__ = ['read_list_labels']

_COMMENT = re.compile(r'(^|\s)#.*')
# Not the colon of a Windows path.
_WITH_COLON = re.compile(r'(?P<name>[^:]+):(?![\\/])(?P<labels>.*)')


def read_list_labels(path: str | Path) -> LabelTable:
    """Read ``name label label ...`` or ``name: label, label`` lines.

    In the first form names and labels have no spaces. In the second they may, and labels are
    divided by comma, semicolon or bar. ``#`` at the start of a line or after a space begins a
    comment.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is not UTF-8 or has no line with a picture.
    """
    rows = []
    for number, line in enumerate(read_lines(path), start=1):
        text = _COMMENT.sub('', line).strip()
        if not text:
            continue
        where = f"line {number} of '{path}'"
        match = _WITH_COLON.fullmatch(text)
        if match:
            labels = re.split('[,;|]', match['labels'])
            rows.append(LabelRow(match['name'].strip(), unique(labels), where))
        else:
            name, *labels = text.split()
            labels = re.split('[,;|]', ','.join(labels))
            rows.append(LabelRow(name, unique(labels), where))
    if not rows:
        raise ValueError(f"'{path}' has only comments, expected lines such as 1.jpg: cat, dog")
    return LabelTable(rows)
