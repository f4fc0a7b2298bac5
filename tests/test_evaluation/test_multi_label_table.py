import csv
import json

import numpy as np
import pytest

from mmshufflemix.evaluation.multi_label_table import (
    class_rows,
    format_rows,
    plain_cell,
    write_report,
)

TARGETS = np.array([[True, False], [True, False]])
DIFFICULT = np.array([[False, True], [False, False]])


def rows(names=('cat', 'potted plant')):
    return class_rows(names, TARGETS, DIFFICULT, np.array([62.5, np.nan]))


def test_rows_count_positives_and_difficult_cells():
    assert rows() == [
        {'class': 'cat', 'positives': 2, 'difficult': 0, 'AP': 62.5},
        {'class': 'potted plant', 'positives': 0, 'difficult': 1, 'AP': None},
    ]


def test_lines_are_aligned():
    lines = format_rows(rows()).split('\n')
    assert [line.split()[-1] for line in lines] == ['AP', '62.50', '-']
    assert len({len(line) for line in lines}) == 1


def test_many_classes_are_all_printed():
    names = [f'class {index}' for index in range(80)]
    none = np.zeros((1, 80), bool)
    lines = format_rows(class_rows(names, none, none, np.arange(80.0))).split('\n')
    assert len(lines) == 81
    assert all(name in line for name, line in zip(names, lines[1:], strict=True))


@pytest.mark.parametrize('start', ['=', '+', '-', '@', '\t', '\r'])
def test_formulas_are_made_plain(start):
    assert plain_cell(f'{start}1') == f"'{start}1"
    assert plain_cell(f'a{start}1') == f'a{start}1'


def test_files(tmp_path):
    content = {'images': 2, 'classes': rows(('=cmd|x', 'a, "b"'))}
    write_report(tmp_path / 'new', content)
    assert json.loads((tmp_path / 'new' / 'multi_label_report.json').read_text()) == content
    with (tmp_path / 'new' / 'multi_label_report.csv').open(newline='') as file:
        assert list(csv.reader(file)) == [
            ['class', 'positives', 'difficult', 'AP'],
            ["'=cmd|x", '2', '0', '62.5'],
            ['a, "b"', '0', '1', ''],
        ]
    assert len(list((tmp_path / 'new').iterdir())) == 2
