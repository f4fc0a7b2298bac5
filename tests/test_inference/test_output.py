"""Tables, JSON lines, CSV and drawings."""

from __future__ import annotations

import csv
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mmshufflemix.inference.draw import draw_result, drawing_files
from mmshufflemix.inference.output import check_output, format_table, write_predictions

CLASSES = ['=cmd()', 'dog, "big"', '@owl']


def result(labels: list[int], scores: list[float]) -> dict[str, Any]:
    return {
        'labels': labels,
        'names': [CLASSES[label] for label in labels],
        'scores': [scores[label] for label in labels],
        'all_scores': np.array(scores),
    }


PREDICTIONS = [
    ('b/1.jpg', result([0, 1], [0.75, 0.5, 0.25])),
    ('-a.jpg', result([], [0.125, 0.0, 0.25])),
]


def test_json_lines(tmp_path: Path) -> None:
    file = tmp_path / 'new' / 'out.jsonl'
    write_predictions(file, PREDICTIONS, CLASSES)
    first, second = map(json.loads, file.read_text().splitlines())
    assert first == {
        'path': 'b/1.jpg',
        'labels': [0, 1],
        'names': CLASSES[:2],
        'scores': [0.75, 0.5],
        'all_scores': dict(zip(CLASSES, [0.75, 0.5, 0.25], strict=True)),
    }
    assert (second['path'], second['labels'], second['names']) == ('-a.jpg', [], [])
    assert [path.name for path in file.parent.iterdir()] == ['out.jsonl']


def test_csv_runs_no_formula(tmp_path: Path) -> None:
    write_predictions(tmp_path / 'out.csv', PREDICTIONS, CLASSES)
    with (tmp_path / 'out.csv').open(newline='') as file:
        rows = list(csv.reader(file))
    assert rows == [
        ['path', 'names', 'scores', "'=cmd()", 'dog, "big"', "'@owl"],
        ['b/1.jpg', '\'=cmd();dog, "big"', '0.75;0.5', '0.75', '0.5', '0.25'],
        ["'-a.jpg", '', '', '0.125', '0.0', '0.25'],
    ]
    assert not [cell for row in rows for cell in row if cell.startswith(('=', '+', '-', '@'))]


def test_table_and_ending() -> None:
    assert format_table(PREDICTIONS).splitlines() == [
        'picture  labels',
        'b/1.jpg  =cmd() 0.75, dog, "big" 0.50',
        '-a.jpg   -',
    ]
    marked = {'names': ['cat', 'dog'], 'scores': [0.75, 0.25], 'reached': [True, False]}
    assert format_table([('a.jpg', marked)]).splitlines()[1] == (
        'a.jpg    cat 0.75, dog 0.25 (below its threshold)'
    )
    with pytest.raises(ValueError, match=r"\.jsonl or \.csv, got 'out\.json'"):
        check_output('out.json')


def test_drawings_of_equal_names_are_numbered() -> None:
    files = drawing_files('out', ['a/x.jpg', 'b/x.png', 'x_2.jpg', 'c/x.jpg'])
    assert [str(file) for file in files] == [
        'out/x.png',
        'out/x_2.png',
        'out/x_2_2.png',
        'out/x_3.png',
    ]


@pytest.mark.parametrize('size', [(60, 20), (20, 60), (1, 1)])
def test_drawing(tmp_path: Path, size: tuple[int, int]) -> None:
    image = np.zeros((size[1], size[0], 3), np.uint8)
    image[..., 0] = 255
    names = ['$x$', 'a' * 99, *map(str, range(20))]
    for index, names_now in enumerate((names, [])):
        scores = np.linspace(1, 0.5, len(names_now)).tolist()
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            draw_result(tmp_path / f'{index}.png', image, {'names': names_now, 'scores': scores})
    full, empty = (np.asarray(Image.open(tmp_path / f'{i}.png').convert('RGB')) for i in (0, 1))
    # The picture is pure blue, since arrays are BGR; it is on the left only.
    blue = (empty == (0, 0, 255)).all(axis=2)
    assert blue.any()
    assert not blue[:, blue.shape[1] * 56 // 100 :].any()
    np.testing.assert_array_equal(blue[:, :400], (full == (0, 0, 255)).all(axis=2)[:, :400])
    dark = [(picture[:, 530:] < 250).any(axis=2).sum() for picture in (full, empty)]
    assert dark[0] > 5 * dark[1] > 0
