from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from mmshufflemix.robustness import curve_names, draw_robustness, format_table, read_record


def record(clean: float = 80.0, metric: str = 'accuracy/top1') -> dict[str, Any]:
    rows = [('white', 0.1, None, 60.0, 0.5), ('white', 0.2, None, 40.0, None)]
    rows += [('salt_pepper', 0.02, 'paper', 50.123, 1.0)]
    keys = ('noise', 'level', 'mode', 'mean', 'std')
    results = [dict(zip(keys, row, strict=True)) for row in rows]
    return {'metric': metric, 'clean': clean, 'results': results}


def test_table() -> None:
    assert format_table(record()).splitlines() == [
        '| noise | level | accuracy/top1 |',
        '|---|---|---|',
        '| none | 0 | 80.00 |',
        '| white | 0.1 | 60.00 ± 0.50 |',
        '| white | 0.2 | 40.00 |',
        '| salt & pepper (paper) | 0.02 | 50.12 ± 1.00 |',
    ]


def test_a_panel_of_3_3_inches_for_each_noise(tmp_path: Path) -> None:
    draw_robustness(tmp_path / 'new' / 'two.png', {'a': record(), 'b': record(70)})
    white = record() | {'results': record()['results'][:2]}
    draw_robustness(tmp_path / 'one.png', {'a': white})
    assert Image.open(tmp_path / 'new' / 'two.png').size == (1980, 750)
    assert Image.open(tmp_path / 'one.png').size == (990, 750)


def test_curves_and_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(draw_robustness.__globals__['_STYLE'], 'svg.fonttype', 'none')
    draw_robustness(tmp_path / 'x.svg', {'Baseline': record(), 'Ours': record(85)})
    text = (tmp_path / 'x.svg').read_text()
    expected = ['Top-1 accuracy (%)', 'White noise level', 'Baseline', 'Ours', 'first channel']
    for words in expected:
        assert words in text
    draw_robustness(tmp_path / 'y.svg', {'a': record(metric='multi-label/mAP')})
    assert 'mAP (%)' in (tmp_path / 'y.svg').read_text()


def test_what_cannot_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r'cannot write a picture to .*x\.doc; expected'):
        draw_robustness(tmp_path / 'x.doc', {'a': record()})
    other = {'a': record(), 'b': record(metric='accuracy/top5')}
    with pytest.raises(ValueError, match='one measure .* got accuracy/top1, accuracy/top5'):
        draw_robustness(tmp_path / 'x.png', other)
    with pytest.raises(ValueError, match='with 0 noises'):
        draw_robustness(tmp_path / 'x.png', {'a': record() | {'results': []}})
    assert list(tmp_path.iterdir()) == []


def test_records_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / 'r.json'
    path.write_text(json.dumps(record()))
    assert read_record(path) == record()
    path.write_text('{"clean": 1}')
    with pytest.raises(ValueError, match=r'r\.json is no robustness study'):
        read_record(path)
    path.write_text('half')
    with pytest.raises(ValueError, match=r'r\.json is not JSON'):
        read_record(path)
    with pytest.raises(FileNotFoundError):
        read_record(tmp_path / 'none.json')


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'results': 3}, r'r\.json is no robustness study'),
        ({'clean': None}, r'r\.json is no robustness study'),
        ({'results': [{}]}, r'entry 0 of the results in .*r\.json is not one of a robustness'),
        ({'results': [3]}, 'entry 0'),
        ({'results': [record()['results'][0], record()['results'][1] | {'mean': None}]}, 'entry 1'),
    ],
)
def test_records_of_another_form(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / 'r.json'
    path.write_text(json.dumps(record() | change))
    with pytest.raises(ValueError, match=message):
        read_record(path)


@pytest.mark.parametrize(
    ('paths', 'names'),
    [
        (['a/noise.json', 'b/other.json'], ['noise', 'other']),
        (['a/noise.json', 'b/noise.json', 'c.json'], ['a/noise', 'b/noise', 'c']),
        (
            ['x/a/noise.json', 'y/a/noise.json', 'b/noise.json'],
            ['x/a/noise', 'y/a/noise', 'b/noise'],
        ),
    ],
)
def test_equal_stems_are_told_apart_by_folders(paths: list[str], names: list[str]) -> None:
    assert curve_names(paths) == names


def test_a_file_given_twice() -> None:
    with pytest.raises(ValueError, match=r'a\.json is given twice'):
        curve_names(['a.json', 'b/../a.json'])
