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
    named |= set(re.findall(r'\b(configs/[\w/]+\.py)\b', text)) - {
        'configs/mine.py',
        'configs/my_digits.py',
    }
    linked = re.findall(r'\]\((?!https?:)([^)#]+)', text)
    missing = [name for name in named if not (ROOT / name).is_file() and 'NAME' not in name]
    missing += [name for name in linked if not (document.parent / name).exists()]
    # METHOD and the like stand for several names.
    assert [name for name in missing if not re.search(r'[A-Z]{3}', name)] == []


# Files besides the tool itself that define options of tools.
_SHARED = (
    'mmshufflemix/cli.py',
    'mmshufflemix/launch.py',
    'mmshufflemix/inference/command.py',
    *(f'mmshufflemix/benchmark/commands/{name}.py' for name in ('data', 'op', 'step', 'gpu')),
)


def options_in(path: Path) -> set[str]:
    return set(re.findall(r"'(--[a-z][\w-]*)'", path.read_text(encoding='utf-8')))


@pytest.mark.parametrize('document', DOCUMENTS, ids=lambda path: path.name)
def test_options_of_tools_exist(document: Path) -> None:
    text = document.read_text(encoding='utf-8')
    shared = set().union(*(options_in(ROOT / name) for name in _SHARED), {'--help'})
    for tool, line in re.findall(r'python tools/(\w+)\.py([^`\n|]*)', text):
        named = set(re.findall(r'(--[a-z][\w-]*)', line))
        unknown = named - shared - options_in(ROOT / 'tools' / f'{tool}.py')
        assert not unknown, f'{tool}: {unknown}'
