"""tools/convert_labels.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tool_runner import call_tool, fail_tool


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'images').mkdir()
    for name in ('1.jpg', '2.jpg'):
        (tmp_path / 'images' / name).touch()
    (tmp_path / 'labels.csv').write_text('image,dog,cat\n1,1,0\n2.jpg,1,1\n')
    return tmp_path


def test_csv(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_tool('convert_labels', 'labels.csv', '--images', 'images', '-o', 'out/all.json')
    assert json.loads((folder / 'out' / 'all.json').read_text()) == {
        'metainfo': {'classes': ['dog', 'cat']},
        'data_list': [
            {'img_path': '1.jpg', 'gt_label': [0]},
            {'img_path': '2.jpg', 'gt_label': [0, 1]},
        ],
    }
    printed = capsys.readouterr().out
    assert '2 images, 2 classes, 0 images without labels' in printed
    assert 'wrote out/all.json' in printed


@pytest.mark.parametrize(
    ('content', 'extra', 'sentence'),
    [
        ('image,cat\n../../x.jpg,1\n', [], "error: line 2 of 'labels.csv' names the picture"),
        ('image,cat\n1,2\n', [], "error: line 2 of 'labels.csv' has '2' in column 'cat'"),
        ('image,cat\n9.jpg,1\n', [], "error: 1 of 1 pictures are not in 'images'"),
        ('image,cat\n1,1\n', ['--classes', 'dog'], 'error: '),
        ('image,cat\n1,1\n', ['-o', 'labels.csv'], 'error: labels are written as .json, got'),
        ('image,cat\n1,1\n', ['-o', 'images'], 'error: cannot write to'),
    ],
)
def test_mistakes_end_in_one_sentence(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    content: str,
    extra: list[str],
    sentence: str,
) -> None:
    (folder / 'labels.csv').write_text(content)
    fail_tool('convert_labels', 'labels.csv', '--images', 'images', '-o', 'all.json', *extra)
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(sentence)
    assert not (folder / 'all.json').exists()
    assert (folder / 'labels.csv').read_text() == content


def test_notes_of_a_list(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / 'labels.txt').write_text('1.jpg banana apple\n2.jpg banana apple\n')
    call_tool('convert_labels', 'labels.txt', '--images', 'images', '-o', 'all.json')
    printed = capsys.readouterr().out
    assert printed.count('note: ') == 1
    assert "note: labels that never occur apart: 'banana apple'; if the words are" in printed
    assert json.loads((folder / 'all.json').read_text())['metainfo']['classes'] == [
        'apple',
        'banana',
    ]


def test_the_labels_are_not_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / 'coco.json').write_text('{}')
    fail_tool('convert_labels', 'coco.json', '--images', 'images', '-o', './coco.json')
    assert "'./coco.json' is the file of the labels" in capsys.readouterr().err
    assert (folder / 'coco.json').read_text() == '{}'
