"""tools/launch_processes.py, which the dist_*.sh launchers call."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure

from mmshufflemix.files import write_json
from tests.tiny_job import write_job
from tests.tool_runner import load_tool, run_processes


@pytest.fixture(scope='module')
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_job(tmp_path_factory.mktemp('job'))


def report(message: str, timestamp: float, *, mistake: bool) -> dict[str, Any]:
    return dict(message=message, timestamp=timestamp, mistake=mistake)


FIRST = report('first', 1.25, mistake=True)
SECOND = report('second', 1.5, mistake=True)
BUG = report('bug', 1.375, mistake=False)


@pytest.mark.parametrize(
    ('ended', 'sentence'),
    [
        ([(1, FIRST), (1, SECOND)], 'first'),
        ([(1, SECOND), (2, FIRST)], 'first'),
        # Ended by torchrun, one of them after it had said why it fails.
        ([(-15, None), (1, SECOND)], 'second'),
        ([(-15, FIRST), (1, SECOND)], 'first'),
        # What fails after another may fail because of it.
        ([(1, FIRST), (1, BUG)], 'first'),
        ([(1, SECOND), (1, BUG)], None),
        ([(1, FIRST), (1, None)], None),
        ([(1, FIRST), (-9, None)], None),
        ([(-15, None)], None),
    ],
)
def test_who_failed_first(
    ended: list[tuple[int, dict[str, Any] | None]], sentence: str | None, tmp_path: Path
) -> None:
    failures = {}
    for rank, (code, said) in enumerate(ended):
        file = tmp_path / f'{rank}.json'
        if said:
            write_json(file, said)
        failures[rank] = ProcessFailure(rank, 100 + rank, code, str(file))
    assert load_tool('launch_processes').mistake(ChildFailedError('tool', failures)) == sentence


@pytest.mark.parametrize(
    ('environment', 'message'),
    [
        ({'PORT': 'auto'}, "PORT must be a whole number of at least 1, got 'auto'."),
        ({'PORT': '0'}, "PORT must be a whole number of at least 1, got '0'."),
        ({'PORT': '65536'}, "PORT must be at most 65535, got '65536'."),
        ({'NNODES': '0'}, "NNODES must be a whole number of at least 1, got '0'."),
        ({'NNODES': '1:2'}, "NNODES must be a whole number of at least 1, got '1:2'."),
        ({'NODE_RANK': '-1'}, "NODE_RANK must be a whole number of at least 0, got '-1'."),
        ({'NODE_RANK': '1'}, "NODE_RANK must be below NNODES=1, got '1'."),
        ({'NNODES': '2', 'NODE_RANK': '2'}, "NODE_RANK must be below NNODES=2, got '2'."),
    ],
)
def test_numbers_of_machines(config: Path, environment: dict[str, str], message: str) -> None:
    for script, arguments in (('dist_train', ['2']), ('dist_test', ['x.pth', '2'])):
        result = run_processes(script, config, *arguments, **environment)
        assert result.returncode == 1
        assert not result.stdout
        assert result.stderr == f'error: {message}\n'


def test_a_port_that_is_in_use(config: Path) -> None:
    with socket.create_server(('0.0.0.0', 0)) as server:
        port = str(server.getsockname()[1])
        result = run_processes('dist_train', config, 2, PORT=port)
    assert result.returncode == 1
    assert 'Traceback' not in result.stderr
    last = result.stderr.splitlines()[-1]
    assert last.startswith('error: the processes cannot meet, check PORT and MASTER_ADDR: ')
    assert port in last


@pytest.mark.slow
def test_a_mistake_of_all_processes_is_said_once_and_last(config: Path) -> None:
    result = run_processes('dist_test', config, 'nope.pth', 2)
    check_only_said(result, "checkpoint 'nope.pth' does not exist or is not a file.")


@pytest.mark.slow
def test_a_mistake_of_one_process_is_said(config: Path, tmp_path: Path) -> None:
    """The first process waits for the second."""
    wrong = tmp_path / 'wrong.py'
    wrong.write_text(
        f"_base_ = ['{config}']\nimport os\n"
        "model = dict(backbone=dict(depth=17 if os.environ['RANK'] == '1' else 18))\ndel os\n"
    )
    result = run_processes('dist_train', wrong, 2, '--work-dir', tmp_path / 'run')
    check_only_said(result, 'invalid depth 17 for resnet')


def check_only_said(result: subprocess.CompletedProcess[str], sentence: str) -> None:
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == f'error: {sentence}'
    assert result.stderr.count(sentence) == 1
    assert 'Traceback' not in result.stderr
    assert 'elastic' not in result.stderr


@pytest.mark.slow
def test_a_bug_keeps_its_traceback_and_the_report(config: Path, tmp_path: Path) -> None:
    broken = tmp_path / 'broken.py'
    broken.write_text(
        f"_base_ = ['{config}']\nfrom mmshufflemix.augments import base\n"
        'base._check_targets = lambda *given: 1 / 0\ndel base\n'
    )
    result = run_processes('dist_train', broken, 2, '--work-dir', tmp_path / 'run')
    assert result.returncode == 1
    assert 'in <lambda>' in result.stderr
    assert 'ChildFailedError' in result.stderr
    assert 'traceback : ZeroDivisionError: division by zero' in result.stderr
    assert not any(line.startswith('error: ') for line in result.stderr.splitlines())
