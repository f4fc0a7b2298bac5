"""The commands in the documents."""

from __future__ import annotations

import re
from pathlib import Path

from tests.tiny_job import ROOT

DOCUMENTS = (ROOT / 'README.md', *sorted((ROOT / 'docs').glob('*.md')))
_FENCED = re.compile(r'^```(\w*)\n(.*?)^```', re.MULTILINE | re.DOTALL)


def blocks(document: Path, language: str) -> list[str]:
    """Return the fenced blocks of a language, '' for those without one."""
    found = _FENCED.findall(document.read_text(encoding='utf-8'))
    return [text for name, text in found if name == language]


def scripts(document: Path) -> list[str]:
    """Return the bash blocks, all of which can be run as they stand."""
    return blocks(document, 'bash')


def spans(document: Path) -> list[str]:
    """Return each line of the blocks, and each piece of inline code."""
    text = document.read_text(encoding='utf-8')
    lines = [line for _, block in _FENCED.findall(text) for line in block.splitlines()]
    inline = re.findall(r'`([^`]+)`', _FENCED.sub('', text))
    return [*lines, *(' '.join(span.split()) for span in inline)]


def tool_calls(document: Path) -> list[tuple[str, list[str]]]:
    """Return the name of each tool that is called, and the options named for it."""
    calls = []
    for span in spans(document):
        for call in re.split(r'&&|;| # ', span):
            found = re.search(r'python tools/(\w+)\.py(.*)', call)
            if found:
                options = re.findall(r'(?<=[\s\[(])(--?[a-zA-Z][\w-]*)', found[2])
                calls.append((found[1], options))
    return calls


def anchors(document: Path) -> set[str]:
    """Return the names that headings get in links."""
    headings = re.findall(r'^#+ (.+)$', _FENCED.sub('', document.read_text('utf-8')), re.MULTILINE)
    return {re.sub(r'[^\w -]', '', heading.lower()).replace(' ', '-') for heading in headings}
