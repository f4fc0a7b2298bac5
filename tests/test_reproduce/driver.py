"""``tools/reproduce.py`` with the table of the tests: ``driver.py CONFIG ARGUMENTS``."""

from __future__ import annotations

import sys
from pathlib import Path

from mmshufflemix.cli import run_cli
from mmshufflemix.reproduce import register_table
from tests.test_reproduce.study import tiny_table
from tests.tool_runner import load_tool

if __name__ == '__main__':
    register_table(tiny_table(Path(sys.argv.pop(1))))
    run_cli(load_tool('reproduce').main)
