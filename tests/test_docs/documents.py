"""The commands in the documents."""

from __future__ import annotations

import re
from pathlib import Path

from tests.tiny_job import ROOT

DOCUMENTS = (ROOT / 'README.md', *sorted((ROOT / 'docs').glob('*.md')))
_BLOCK = re.compile(r'^```bash\n(.*?)^```', re.MULTILINE | re.DOTALL)


def commands(document: Path) -> list[str]:
    """Return the lines of all bash blocks."""
    blocks = _BLOCK.findall(document.read_text(encoding='utf-8'))
    return [line for block in blocks for line in block.splitlines() if line.strip()]
