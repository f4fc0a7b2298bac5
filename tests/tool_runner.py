"""Run the tools of this project inside the test process."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import uuid
from pathlib import Path
from types import ModuleType

import pytest

from mmshufflemix.cli import run_cli
from tests.tiny_job import ROOT


def load_tool(name: str) -> ModuleType:
    """Import ``tools/<name>.py`` as a module."""
    spec = importlib.util.spec_from_file_location(
        f'mmshufflemix_tool_{name}', ROOT / 'tools' / f'{name}.py'
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def call_tool(name: str, *arguments: object) -> None:
    """Call the tool's main function with these arguments alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, 'argv', [name, *map(str, arguments)])
        load_tool(name).main()


def run_tool(name: str, *arguments: str | Path) -> None:
    """Call a tool that reads a config; the name of the experiment is made unique."""
    options = [str(argument) for argument in arguments]
    if '--cfg-options' not in options:
        options.append('--cfg-options')
    # MMEngine keeps logs and histories of one process under this name.
    options.append(f'experiment_name={uuid.uuid4().hex}')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('LOCAL_RANK', '0')
        call_tool(name, *options)


def fail_tool(name: str, *arguments: object, code: int = 1) -> None:
    """Run a tool as from a shell; it must end with this code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, 'argv', [name, *map(str, arguments)])
        tool = load_tool(name)
        # A user's mistake is told from a bug by the name of the module that raises.
        tool.__name__ = '__main__'
        with pytest.raises(SystemExit) as ended:
            run_cli(tool.main)
    assert ended.value.code == code


def run_processes(
    script: str, *arguments: str | Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``tools/<script>.sh`` with this interpreter."""
    plain = {'PYTHON': sys.executable, 'PATH': '/usr/bin:/bin', 'OMP_NUM_THREADS': '1'}
    return subprocess.run(
        ['bash', str(ROOT / 'tools' / f'{script}.sh'), *map(str, arguments)],
        env={**plain, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
