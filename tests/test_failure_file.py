"""What a process of several leaves to its launcher."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mmshufflemix.augments import ShuffleMix
from mmshufflemix.cli import new_parser, run_cli


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that torchrun names, under tools/launch_processes.py."""
    monkeypatch.setattr('mmshufflemix.cli.use_safe_loading', lambda: None)
    monkeypatch.setattr('sys.argv', ['tool'])
    monkeypatch.delenv('MMSHUFFLEMIX_TRACEBACK', raising=False)
    monkeypatch.setenv('MMSHUFFLEMIX_LAUNCHER', '1')
    monkeypatch.setenv('TORCHELASTIC_ERROR_FILE', str(tmp_path / 'error.json'))
    return tmp_path / 'error.json'


def wrong_value() -> None:
    ShuffleMix(alpha=-1.0)


def wrong_option() -> None:
    new_parser('a tool').parse_args(['--bogus'])


def bug() -> None:
    print(1 / 0)


@pytest.mark.parametrize(
    ('main', 'code', 'message'),
    [(wrong_value, 1, 'alpha must'), (wrong_option, 2, 'unrecognized arguments: --bogus')],
)
def test_a_mistake_is_left_to_the_launcher(
    main: Callable[[], None],
    code: int,
    message: str,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = time.time()
    with pytest.raises(SystemExit) as ended:
        run_cli(main)
    assert ended.value.code == code
    assert capsys.readouterr().err == ''
    report = json.loads(file.read_text())
    assert report['message'].startswith(message)
    assert report['mistake'] is True
    assert before <= report['timestamp'] <= time.time()
    # torchrun itself names such a file, too, but does not print what is in it.
    monkeypatch.delenv('MMSHUFFLEMIX_LAUNCHER')
    with pytest.raises(SystemExit):
        run_cli(main)
    assert f'error: {message}' in capsys.readouterr().err


def test_a_bug_is_not_a_mistake(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        run_cli(bug)
    report = json.loads(file.read_text())
    assert (report['message'], report['mistake']) == ('ZeroDivisionError: division by zero', False)
    monkeypatch.setattr('sys.argv', ['tool', '--traceback'])
    with pytest.raises(ValueError, match='alpha must'):
        run_cli(wrong_value)
    assert json.loads(file.read_text())['mistake'] is False


def test_the_launcher_is_gone(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file.touch()
    monkeypatch.setenv('TORCHELASTIC_ERROR_FILE', str(file / 'error.json'))
    with pytest.raises(SystemExit):
        run_cli(wrong_value)
    assert capsys.readouterr().err.startswith('error: alpha must')
