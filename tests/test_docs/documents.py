"""The commands in the documents."""

from __future__ import annotations

import re
from pathlib import Path

from tests.tiny_job import ROOT

DOCUMENTS = (ROOT / 'README.md', *sorted((ROOT / 'docs').glob('*.md')))
_BLOCK = re.compile(r'^```bash\n(.*?)^```', re.MULTILINE | re.DOTALL)


def scripts(document: Path) -> list[str]:
    """Return the bash blocks."""
    return _BLOCK.findall(document.read_text(encoding='utf-8'))
