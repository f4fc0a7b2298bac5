"""Work folders that cannot be used."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest
from mmengine.config import Config

from mmshufflemix.files import check_folder
from mmshufflemix.launch import build_runner, set_work_dir
from tests.tiny_job import write_job
from tests.tool_runner import fail_tool


def test_a_usable_folder_is_left_as_it_is(tmp_path: Path) -> None:
    check_folder(tmp_path, '--work-dir')
    check_folder(tmp_path / 'new' / 'deep', '--work-dir')
    assert not list(tmp_path.iterdir())


def unusable(kind: str, folder: Path) -> Path:
    """Make a path at which no folder can be."""
    (folder / 'file').touch()
    if kind == 'link':
        (folder / 'link').symlink_to(folder / 'nowhere')
    return {
        'file': folder / 'file',
        'below_file': folder / 'file' / 'run',
        'link': folder / 'link',
        'system': Path('/proc/run'),
    }[kind]


@pytest.mark.parametrize(
    ('kind', 'reason'),
    [
        ('file', 'since it is a file'),
        ('below_file', "file' is a file and no folder"),
        ('link', 'since it is a file'),
        ('system', "since '/proc' takes no new file"),
    ],
)
def test_the_reason_and_the_way_out_are_named(tmp_path: Path, kind: str, reason: str) -> None:
    path = unusable(kind, tmp_path)
    with pytest.raises(ValueError, match=reason) as refused:
        check_folder(path, '--work-dir')
    sentence = str(refused.value)
    assert f"the folder '{path}' cannot be used" in sentence
    assert sentence.endswith('choose another one with --work-dir')


def test_a_read_only_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a read-only disk, which a superuser cannot write to either."""

    def refuse(dir: Path) -> None:
        raise OSError(30, 'Read-only file system', str(dir))

    monkeypatch.setattr('mmshufflemix.files.tempfile.TemporaryFile', refuse)
    with pytest.raises(ValueError, match=f"since '{tmp_path}' takes no new file"):
        check_folder(tmp_path / 'run', '--work-dir')


@pytest.mark.parametrize(
    'arguments',
    [
        ['train', 'CONFIG'],
        ['test', 'CONFIG', 'CONFIG'],
        ['robustness', 'CONFIG', 'CONFIG'],
        ['benchmark', 'timed', 'CONFIG', '--minutes', '1'],
        ['demo'],
    ],
)
def test_every_tool_with_a_work_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    config = write_job(tmp_path)
    tool, *options = [str(config) if word == 'CONFIG' else word for word in arguments]
    (tmp_path / 'file').touch()
    fail_tool(tool, *options, '--work-dir', tmp_path / 'file')
    error = capsys.readouterr().err.strip()
    assert error.startswith(f"error: the folder '{tmp_path / 'file'}' cannot be used, since it is")
    assert len(error.splitlines()) == 1


def test_a_work_folder_of_the_config(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = write_job(tmp_path)
    fail_tool('train', config, '--cfg-options', f'work_dir={config}')
    assert f"error: the folder '{config}' cannot be used" in capsys.readouterr().err


def test_a_home_folder_that_the_shell_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of ``--work-dir=~/run``."""
    monkeypatch.setenv('HOME', str(tmp_path))
    cfg = Config()
    set_work_dir(cfg, argparse.Namespace(work_dir='~/run', config='x.py'))
    assert cfg.work_dir == str(tmp_path / 'run')


@pytest.mark.parametrize('name', ['', 2024, ['a', 'b']])
def test_what_is_no_name_of_a_folder(name: Any) -> None:
    with pytest.raises(ValueError, match='must be the name of a folder, got .*--work-dir'):
        build_runner(Config(dict(work_dir=name)))
