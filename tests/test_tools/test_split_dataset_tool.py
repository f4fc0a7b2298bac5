"""tools/split_dataset.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tool_runner import call_tool, fail_tool


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty pictures in the folder images, two of them equal."""
    monkeypatch.chdir(tmp_path)
    Path('images').mkdir()
    for index in range(20):
        Path('images', f'{index}.jpg').write_text(str(index % 19))
    rows = [{'img_path': f'{index}.jpg', 'gt_label': [index % 2]} for index in range(20)]
    Path('all.json').write_text(
        json.dumps({'metainfo': {'classes': ['=cat', 'dog']}, 'data_list': rows})
    )


def names(path: str) -> set[str]:
    return {row['img_path'] for row in json.loads(Path(path).read_text())['data_list']}


def test_three_parts(capsys: pytest.CaptureFixture[str]) -> None:
    call_tool('split_dataset', 'all.json', '-o', '.', '--val', '0.1', '--seed', '3')
    parts = [names(f'{part}.json') for part in ('train', 'val', 'test')]
    assert sum(map(len, parts)) == len(set.union(*parts)) == 20
    assert any({'0.jpg', '19.jpg'} <= part for part in parts)
    printed = capsys.readouterr().out
    assert '=cat' in printed
    assert 'several copies, kept in one part: 1 (0.jpg, 19.jpg)' in printed


def test_folds_and_options(capsys: pytest.CaptureFixture[str]) -> None:
    options = ['--group-by', '^(.)', '--no-keep-duplicates-together']
    call_tool('split_dataset', 'all.json', '-o', 'folds', '--folds', '3', *options)
    held_out = [names(f'folds/fold{fold}_val.json') for fold in range(3)]
    assert sum(map(len, held_out)) == len(set.union(*held_out)) == 20
    tens = {f'{index}.jpg' for index in (1, *range(10, 20))}
    assert any(tens <= part for part in held_out)
    assert 'copies' not in capsys.readouterr().out


@pytest.mark.parametrize(
    ('arguments', 'code', 'sentence'),
    [
        (['nope.json'], 1, 'error: the annotation file nope.json does not exist'),
        (['all.json', '--val', '1.5'], 1, 'error: the shares of val and test'),
        (['all.json', '--images', 'nope'], 1, "error: the folder 'nope' does not exist"),
        (['all.json', '--group-by', '('], 1, "error: --group-by '(' is not a regular"),
        (['all.json', '--folds', '2', '--val', '0.2'], 2, '--folds goes without --val and --test'),
    ],
)
def test_mistakes(
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    sentence: str,
) -> None:
    fail_tool('split_dataset', *arguments, '-o', 'out', code=code)
    assert sentence in capsys.readouterr().err
    assert not Path('out').exists()


def test_a_second_split_needs_force(capsys: pytest.CaptureFixture[str]) -> None:
    call_tool('split_dataset', 'all.json', '-o', 'out')
    fail_tool('split_dataset', 'all.json', '-o', 'out', '--test', '0')
    assert 'holds a split already' in capsys.readouterr().err
    call_tool('split_dataset', 'all.json', '-o', 'out', '--test', '0', '--force')
    assert not Path('out/test.json').exists()
