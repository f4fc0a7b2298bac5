"""The tools in an environment with neither of the two OpenMMLab stacks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mmshufflemix._stack import STACK_PACKAGES
from tests.tiny_job import ROOT

TOOLS = sorted((ROOT / 'tools').glob('*.py'))
# None in sys.modules is how Python marks what cannot be imported.
PROGRAM = """
import runpy, sys
sys.modules.update(dict.fromkeys({missing}))
sys.argv = [{tool!r}, '--help']
runpy.run_path({tool!r}, run_name='__main__')
"""


def run_without(tool: Path, *missing: str) -> subprocess.CompletedProcess[str]:
    """Run a tool where packages are missing; torch is never imported, so this takes no time."""
    program = PROGRAM.format(missing=list(missing), tool=str(tool))
    return subprocess.run(
        [sys.executable, '-c', program], cwd=ROOT, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize('tool', TOOLS, ids=lambda tool: tool.stem)
def test_a_tool_says_what_to_install(tool: Path) -> None:
    result = run_without(tool, *STACK_PACKAGES)
    if tool.stem == 'onnx_predict':
        # It needs nothing of this project.
        assert result.returncode == 0, result.stderr
        assert result.stdout.startswith('usage:')
        return
    assert result.returncode == 1
    assert not result.stdout
    [line] = result.stderr.splitlines()
    assert line.startswith('error: mmshufflemix needs torch, mmengine, mmcv, mmpretrain, which')
    assert 'requirements/onedl.txt' in line
    assert 'requirements/official.txt' in line


@pytest.mark.parametrize('name', STACK_PACKAGES)
def test_one_missing_package_is_named(name: str) -> None:
    result = run_without(ROOT / 'tools' / 'benchmark.py', name)
    assert result.returncode == 1
    [line] = result.stderr.splitlines()
    assert line.startswith(f'error: mmshufflemix needs {name}, which is not installed')


def test_other_errors_keep_their_traceback() -> None:
    program = (
        "import sys\nsys.modules['mmcv'] = None\n"
        'try:\n    import mmshufflemix\nexcept ImportError as error:\n    print(error)\n1 / 0\n'
    )
    result = subprocess.run(
        [sys.executable, '-c', program], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert result.stdout.startswith('mmshufflemix needs mmcv, which')
    assert result.stderr.startswith('Traceback')
    assert 'ZeroDivisionError' in result.stderr
