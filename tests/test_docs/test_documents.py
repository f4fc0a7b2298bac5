"""What the documents name exists."""

from __future__ import annotations

import argparse
import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.test_docs.documents import DOCUMENTS, anchors, blocks, tool_calls
from tests.tiny_job import ROOT
from tests.tool_runner import load_tool

each_document = pytest.mark.parametrize('document', DOCUMENTS, ids=lambda path: path.name)


@each_document
def test_tools_and_configs_exist(document: Path) -> None:
    text = document.read_text(encoding='utf-8')
    named = set(re.findall(r'\b((?:tools|requirements)/\w+\.(?:py|sh|txt))\b', text))
    # Some the user writes. METHOD and the like stand for several names.
    named |= set(re.findall(r'\b(configs/[\w/]+\.py)\b', text)) - {
        'configs/mine.py',
        'configs/my_digits.py',
    }
    missing = [name for name in named if not (ROOT / name).is_file()]
    assert [name for name in missing if not re.search(r'[A-Z]{3}', name)] == []


@each_document
def test_links_lead_somewhere(document: Path) -> None:
    for link in re.findall(r'\]\((?!https?:)([^)]+)\)', document.read_text(encoding='utf-8')):
        name, _, anchor = link.partition('#')
        target = document.parent / name if name else document
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@each_document
def test_options_of_tools_exist(document: Path) -> None:
    for tool, options in tool_calls(document):
        unknown = set(options) - tool_options(tool)
        assert not unknown, f'{tool}: {unknown}'


@each_document
def test_python_is_valid(document: Path) -> None:
    for block in blocks(document, 'python'):
        ast.parse(block)


def test_calls_are_found(tmp_path: Path) -> None:
    document = tmp_path / 'document.md'
    document.write_text(
        'Run `python tools/train.py CONFIG\n[--resume --wrong]`, not `--other`.\n'
        '```bash\npython tools/predict.py C "a b" -o x && python tools/test.py C --out y\n```\n'
    )
    calls = dict(tool_calls(document))
    assert calls == {'train': ['--resume', '--wrong'], 'predict': ['-o'], 'test': ['--out']}
    assert set(calls['train']) - tool_options('train') == {'--wrong'}
    assert set(calls['predict']) - tool_options('predict') == {'-o'}
    # An option of one of its commands.
    assert '--pairs' in tool_options('benchmark')


@cache
def tool_options(tool: str) -> frozenset[str]:
    """Return the options of a tool and of its commands, from the parser that it makes."""
    parsers: list[argparse.ArgumentParser] = []

    def keep(parser: argparse.ArgumentParser, *_: object) -> None:
        parsers.append(parser)
        raise SystemExit

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, 'argv', [tool])
        patch.setattr(argparse.ArgumentParser, 'parse_args', keep)
        with pytest.raises(SystemExit):
            load_tool(tool).main()
    for parser in parsers:
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                parsers.extend(action.choices.values())
    return frozenset(name for parser in parsers for name in parser._option_string_actions)
