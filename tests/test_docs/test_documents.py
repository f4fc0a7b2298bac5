"""What the documents name exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.test_docs.documents import DOCUMENTS
from tests.tiny_job import ROOT


@pytest.mark.parametrize('document', DOCUMENTS, ids=lambda path: path.name)
def test_tools_configs_and_links_exist(document: Path) -> None:
    text = document.read_text(encoding='utf-8')
    named = set(re.findall(r'\b((?:tools|requirements)/\w+\.(?:py|sh|txt))\b', text))
    named |= set(re.findall(r'\b(configs/[\w/]+\.py)\b', text)) - {'configs/mine.py'}
    linked = re.findall(r'\]\((?!https?:)([^)#]+)', text)
    missing = [name for name in named if not (ROOT / name).is_file() and 'NAME' not in name]
    missing += [name for name in linked if not (document.parent / name).exists()]
    # METHOD and the like stand for several names.
    assert [name for name in missing if not re.search(r'[A-Z]{3}', name)] == []


@pytest.mark.parametrize('document', DOCUMENTS, ids=lambda path: path.name)
def test_options_of_tools_exist(document: Path) -> None:
    text = document.read_text(encoding='utf-8')
    for tool, line in re.findall(r'python tools/(\w+)\.py([^`\n|]*)', text):
        known = set(re.findall(r"'(--[\w-]+)'", (ROOT / 'tools' / f'{tool}.py').read_text()))
        known |= set(re.findall(r"'(--[\w-]+)'", OPTIONS.read_text())) | BENCHMARK
        unknown = set(re.findall(r'(--[a-z][\w-]*)', line)) - known - {'--help', '--traceback'}
        assert not unknown, f'{tool}: {unknown}'


OPTIONS = ROOT / 'mmshufflemix' / 'launch.py'
BENCHMARK = {
    option
    for path in (ROOT / 'mmshufflemix' / 'benchmark' / 'commands').glob('*.py')
    for option in re.findall(r"'(--[\w-]+)'", path.read_text())
}
