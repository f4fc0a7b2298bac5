from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest
from PIL import Image

from mmshufflemix.reproduce import TABLES, Metric, PaperValue, Row, Table, write_report
from mmshufflemix.reproduce.collect import collect_table, mean, sample_std
from mmshufflemix.reproduce.curves import table_panels
from tests.test_reproduce.study import TOP1, tiny_table, write_result

TABLE = tiny_table(Path('tiny.py'))


def test_mean_and_sample_standard_deviation_by_hand():
    assert (mean([]), sample_std([]), sample_std([3.0])) == (None, None, None)
    assert mean([1.0, 2.0, 6.0]) == 3.0
    # Deviations -2, -1, 3: squares sum to 14, over two.
    assert sample_std([1.0, 2.0, 6.0]) == pytest.approx(math.sqrt(7))


def test_markdown_puts_ours_beside_the_papers(tmp_path: Path):
    for seed, value in enumerate([70.0, 72.0, 77.0]):
        write_result(tmp_path / 'tiny_job' / 'half', seed, {'accuracy/top1': value})
    text = write_report(TABLE, tmp_path)
    assert text == (tmp_path / 'tiny_job' / 'table.md').read_text()
    # Mean 73; deviations -3, -1, 4: sqrt(26 / 2) = 3.61.
    assert text.splitlines() == [
        '## Tiny job',
        '',
        "| row | ours (top-1 accuracy, %) | the paper's (top-1 accuracy, %) |",
        '| --- | --- | --- |',
        '| half | 73.00 ± 3.61 (3 seeds) | 50.00 ± 0.500 |',
        '| most | not run |  |',
    ]


def test_a_table_without_numbers_in_the_paper_has_no_column_for_them(tmp_path: Path):
    lines = write_report(TABLES['sparsity'], tmp_path).splitlines()
    assert lines[2] == '| row | ours (top-1 accuracy, %) |'
    assert lines[4] == '| cub_baseline_50 | not run |'


def test_csv_and_json_have_the_value_of_each_seed(tmp_path: Path):
    write_result(tmp_path / 'tiny_job' / 'half', 0, {'accuracy/top1': 70.0})
    write_result(tmp_path / 'tiny_job' / 'half', 5, {'accuracy/top1': 71.0})
    write_report(TABLE, tmp_path)
    folder = tmp_path / 'tiny_job'
    half, most = csv.DictReader((folder / 'table.csv').read_text().splitlines())
    assert (half['seed_0'], half['seed_5'], half['seeds']) == ('70.0', '71.0', '2')
    assert (half['ours_mean'], half['paper_std'], half['length']) == ('70.5', '0.5', '2 epochs')
    assert (most['ours_mean'], most['seed_0'], most['paper_mean']) == ('not run', '', '')
    rows = json.loads((folder / 'table.json').read_text())['rows']
    assert rows[0]['ours']['values'] == {'0': 70.0, '5': 71.0}
    assert rows[0]['paper'] == {'mean': 50.0, 'std': 0.5}
    assert rows[1]['ours'] == {'mean': None, 'std': None, 'values': {}}
    assert rows[1]['paper'] is None


def test_what_differs_from_the_paper_is_said_in_all_outputs(tmp_path: Path):
    table = Table('t', 'T', (TOP1,), TABLE.rows, figure='sweep', x_label='x')
    folder = tmp_path / 't_2_epochs'
    write_result(
        folder / 'half', 0, {'accuracy/top1': 1.0}, full_epochs=200, options={'a.b': '0.1'}
    )
    text = write_report(table, tmp_path, 2, ['most seed 0 failed: exit code 1'])
    expected = [
        'shortened to 2 of 200 epochs: all that was run',
        'with --cfg-options a.b=0.1: all that was run',
        'most seed 0 failed: exit code 1',
    ]
    assert text.splitlines()[-3:] == [f'- {line}' for line in expected]
    assert json.loads((folder / 'table.json').read_text())['notes'] == expected
    half = next(csv.DictReader((folder / 'table.csv').read_text().splitlines()))
    assert (half['length'], half['options']) == ('shortened to 2 of 200 epochs', 'a.b=0.1')
    assert (folder / 'figure.png').is_file()


def test_class_vectors_are_named(tmp_path: Path):
    write_result(tmp_path / 'tiny_job' / 'most', 0, {'accuracy/top1': 1.0}, class_vectors='glove')
    write_result(tmp_path / 'tiny_job' / 'half', 0, {'accuracy/top1': 1.0})
    assert write_report(TABLE, tmp_path).splitlines()[-1] == '- class vectors from glove: most'


def test_several_measures_have_a_line_each(tmp_path: Path):
    write_result(
        tmp_path / 'tiny' / 'preact18_baseline', 0, {'accuracy/top1': 60.0, 'accuracy/top5': 80.0}
    )
    lines = write_report(TABLES['tiny'], tmp_path).splitlines()
    assert lines[4] == '| preact18_baseline | top-1 accuracy (%) | 60.00 (1 seed) | 62.64 |'
    assert lines[5] == '| preact18_baseline | top-5 accuracy (%) | 80.00 (1 seed) | 83.05 |'


def test_what_was_moved_aside_or_is_unfinished_does_not_count(tmp_path: Path):
    folder = tmp_path / 'tiny_job' / 'half'
    write_result(folder, 0, {'accuracy/top1': 70.0})
    (folder / 'seed_0').rename(folder / 'seed_0.old-1')
    (folder / 'seed_1').mkdir()
    assert collect_table(TABLE, tmp_path)[0].runs == {}
    write_result(folder, 2, {'accuracy/top1': 70.0})
    (folder / 'seed_2' / 'result.json').write_text('{"seed": 2}')
    with pytest.raises(ValueError, match='is no result; move its folder away'):
        collect_table(TABLE, tmp_path)


def test_a_row_of_another_table_is_read_from_there(tmp_path: Path):
    write_result(tmp_path / 'cifar100' / 'preact18_shufflemix', 0, {'accuracy/top1': 80.5})
    for name, row in (('ratio', 'shufflemix_r0.5'), ('alpha', 'shufflemix_alpha1')):
        results = {item.row.name: item for item in collect_table(TABLES[name], tmp_path)}
        assert results[row].cell(TOP1).mean == 80.5
        assert sum(bool(item.runs) for item in results.values()) == 1


def test_curves_of_a_sweep(tmp_path: Path):
    folder = tmp_path / 'ratio' / 'shufflemix_hard_r0.25'
    write_result(folder, 0, {'accuracy/top1': 78.0})
    write_result(folder, 1, {'accuracy/top1': 80.0})
    (panel,) = table_panels(TABLES['ratio'], collect_table(TABLES['ratio'], tmp_path))
    assert list(panel.curves) == ['hard', 'soft']
    assert panel.curves['hard'].ours == [(0.25, 79.0, pytest.approx(math.sqrt(2)))]
    assert panel.curves['hard'].paper[1] == (0.25, 79.05)
    assert (panel.x_label, panel.y_label) == (
        'Ratio of mixed channels r',
        'Test top-1 accuracy (%)',
    )


def test_curves_under_noise_begin_without_it(tmp_path: Path):
    measures = {'clean': 76.0, 'white/0.1': 57.0, 'salt_pepper/0.02': 59.0}
    write_result(tmp_path / 'robustness' / 'wide18_2_nfm', 0, measures)
    table = TABLES['robustness']
    panels = table_panels(table, collect_table(table, tmp_path))
    assert len(panels) == 4
    white = next(p for p in panels if p.title.startswith('Wide') and p.x_label.startswith('White'))
    assert white.curves['NFM'].ours == [(0.0, 76.0, 0.0), (0.1, 57.0, 0.0)]
    assert white.curves['NFM'].paper == [(0.0, 81.20), (0.1, 78.03), (0.2, 61.73), (0.3, 37.05)]


def test_curves_along_epochs(tmp_path: Path):
    table = TABLES['voc07']
    for seed, offset in ((0, 0.0), (1, 2.0)):
        along = {epoch: {'multi-label/mAP': 80.0 + epoch + offset} for epoch in (1, 2, 3)}
        write_result(tmp_path / 'voc07' / 'mlgcn_baseline', seed, along[3], along)
    (panel,) = table_panels(table, collect_table(table, tmp_path))
    root = pytest.approx(math.sqrt(2))
    assert panel.curves['ML-GCN'].ours == [(1, 82.0, root), (2, 83.0, root), (3, 84.0, root)]
    assert panel.curves['ML-GCN'].paper == [(1.0, 93.5), (3.0, 93.5)]


@pytest.mark.parametrize('name', ['ratio', 'alpha', 'threshold', 'sparsity', 'robustness', 'voc07'])
def test_figures_are_a_column_wide(name: str, tmp_path: Path):
    write_report(TABLES[name], tmp_path)
    with Image.open(tmp_path / name / 'figure.png') as picture:
        assert picture.width == 990  # 3.3 in at 300 dots per inch


def test_a_table_without_figure_has_none(tmp_path: Path):
    write_report(TABLES['cifar10'], tmp_path)
    assert not (tmp_path / 'cifar10' / 'figure.png').exists()
    plain = Table('t', 'T', (Metric('m', 'm'),), (Row('r', 'm', 'c', paper={'m': PaperValue(1)}),))
    with pytest.raises(ValueError, match='the table t has no figure'):
        table_panels(plain, [])
