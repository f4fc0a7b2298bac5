"""Call tools as a shell would, inside the test process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from mmshufflemix.cli import run_cli
from tests.tool_runner import load_tool


class Outcome(NamedTuple):
    """What a shell sees of a tool."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """All that a terminal would show."""
        return self.out + self.err


def call_tool(capsys: pytest.CaptureFixture[str], name: str, *arguments: str | Path) -> Outcome:
    """Run ``tools/<name>.py`` with arguments; a bug, which has a traceback, is raised."""
    capsys.readouterr()
    code = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, 'argv', [name, *map(str, arguments)])
        patch.setenv('LOCAL_RANK', '0')
        patch.delenv('MMSHUFFLEMIX_TRACEBACK', raising=False)
        try:
            tool = load_tool(name)
            # As started by a shell: what it raises itself is a mistake of the user.
            patch.setattr(tool, '__name__', '__main__')
            run_cli(tool.main)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return Outcome(code, *capsys.readouterr())


def error_of(outcome: Outcome) -> str:
    """Return the one sentence that a refused call ends with."""
    assert outcome.code == 1, outcome
    line = outcome.err.strip().splitlines()[-1]
    assert line.startswith('error: '), outcome.err
    assert 'Traceback' not in outcome.text
    return line
