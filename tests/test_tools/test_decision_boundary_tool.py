"""The decision boundary tool as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mmengine.logging import MMLogger
from PIL import Image

from tests.tool_runner import call_tool, fail_tool

TINY = ('--epochs', '2', '--points', '8', '--methods', 'baseline', 'shufflemix')


@pytest.fixture(autouse=True)
def own_loggers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the tool's quiet logger from becoming that of later tests."""
    monkeypatch.setattr(MMLogger, '_instance_dict', MMLogger._instance_dict.copy())


def test_figure_table_and_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture, numbers = tmp_path / 'a' / 'figure.png', tmp_path / 'a' / 'numbers.json'
    options = '--seeds', 5, '--noise', 0.1, '--out', picture, '--json', numbers
    call_tool('decision_boundary', *TINY, *options)
    printed = capsys.readouterr().out
    assert 'seed 5, 8 training points a class, noise 0.1, 2 epochs' in printed
    assert Image.open(picture).size[0] > 600
    results = json.loads(numbers.read_text())['results']
    assert {(row['method'], row['classes'], row['seed']) for row in results} == {
        (method, classes, 5)
        for method in ('baseline', 'shufflemix', 'best possible')
        for classes in (2, 3)
    }
    lines = {line.split()[0]: line.split()[1:] for line in printed.splitlines() if line}
    for row in results:
        title = {'baseline': 'Baseline', 'shufflemix': 'ShuffleMix'}.get(row['method'])
        if title:
            assert lines[title][row['classes'] - 2] == f'{row["test_accuracy"]:.1f}'
    assert sorted(path.name for path in picture.parent.iterdir()) == ['figure.png', 'numbers.json']


def test_one_seed_gives_one_result(tmp_path: Path) -> None:
    for name in ('first', 'again'):
        paths = '--out', tmp_path / f'{name}.png', '--json', tmp_path / f'{name}.json'
        call_tool('decision_boundary', *TINY, *paths)
    for kind in ('png', 'json'):
        first, again = ((tmp_path / f'{name}.{kind}').read_bytes() for name in ('first', 'again'))
        assert first == again


def test_several_seeds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = '--epochs', 1, '--points', 8, '--methods', 'nfm', '--seeds', 2, 0, 7
    paths = '--out', tmp_path / 'figure.pdf', '--json', tmp_path / 'numbers.json'
    call_tool('decision_boundary', *options, *paths)
    printed = capsys.readouterr().out
    assert 'seeds 2, 0, 7, 8 training' in printed
    assert 'noise 0.2, 1 epoch\n' in printed
    [line] = [line for line in printed.splitlines() if line.startswith('NFM')]
    assert line.count('±') == 2
    assert json.loads((tmp_path / 'numbers.json').read_text())['settings']['seeds'] == [2, 0, 7]


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--methods', 'cutmix'], 'methods must be among baseline, weight_decay, dropout,'),
        (['--epochs', '0'], 'training needs at least 1 epoch, got 0'),
        (['--points', '0'], 'each class needs at least 1 point, got 0'),
        (['--noise', '-1'], 'noise must lie in [0, 10], got -1'),
        (['--noise', 'nan'], 'noise must lie in [0, 10], got nan'),
        (['--seeds', '-1'], 'seeds must lie in [0, 2^31), got -1'),
        (['--seeds', '0', '0'], 'seeds must differ, got [0, 0]'),
        (['--json', '.'], "cannot write to '"),
        (['--out', 'figure.doc'], 'cannot write a picture to figure.doc; expected an ending of'),
    ],
)
def test_bad_options_are_one_sentence(
    options: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    fail_tool('decision_boundary', *options)
    error = capsys.readouterr().err
    assert error.startswith(f'error: {message}')
    assert len(error.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
