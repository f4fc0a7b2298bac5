"""Predictions, mistakes, pictures and texts of a report."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mmshufflemix.evaluation.predictions_file import read_records
from mmshufflemix.report.gallery import Gallery
from mmshufflemix.report.mistakes import false_negatives, false_positives, wrong_images
from mmshufflemix.report.multi_label import class_f1, multi_label_sections, rising
from mmshufflemix.report.predictions import find_predictions, to_predictions
from mmshufflemix.report.single_label import confused_pairs
from mmshufflemix.report.text import call_text, count, duration, number, percent
from mmshufflemix.report.tuned import read_thresholds, threshold_sections
from tests.test_report.runs import NAMES, multi_label_records


def test_worst_cells_against_a_loop() -> None:
    records = multi_label_records([f'{index}.png' for index in range(30)])
    predictions = to_predictions(records, NAMES)
    cuts = np.array([0.6, records[0]['pred_score'][1], 0.2])  # the score itself is a prediction
    cells = [
        (record['pred_score'][k], image, k, k in record['gt_label'])
        for image, record in enumerate(records)
        for k in range(3)
        if k not in record['gt_label_difficult']
    ]
    for label in (None, 0, 1, 2):
        own = [cell for cell in cells if label in (None, cell[2])]
        wrong = [cell for cell in own if not cell[3] and cell[0] >= cuts[cell[2]]]
        missed = sorted(cell for cell in own if cell[3] and cell[0] < cuts[cell[2]])
        assert missed
        wrong.sort(key=lambda cell: -cell[0])
        for limit in (4, 99):
            found = [(m.image, m.label) for m in false_positives(predictions, cuts, limit, label)]
            assert found == [cell[1:3] for cell in wrong[:limit]]
            found = [(m.image, m.label) for m in false_negatives(predictions, cuts, limit, label)]
            assert found == [cell[1:3] for cell in missed[:limit]]


def test_mistakes_are_those_at_the_thresholds_of_the_class_table() -> None:
    scores = [[0.7, 0.6], [0.8, 0.9], [0.6, 0.1]]
    labels = [[0], [0, 1], []]
    records = [
        {'pred_score': score, 'gt_label': label, 'gt_label_difficult': []}
        for score, label in zip(scores, labels, strict=True)
    ]
    predictions = to_predictions(records, ['car', 'cat'])

    def captions(cuts: list[float]) -> dict[str, list[str]]:
        sections = multi_label_sections(predictions, np.array(cuts), Gallery([]), 5)[2:]
        return {s.title: [caption.split('\n')[1] for _, caption in s.pictures] for s in sections}

    assert captions([0.75, 0.5]) == {
        'Worst false positives': ['wrongly found: cat 0.600'],
        'Worst false negatives': ['missed: car 0.700'],
        'Mistakes: car': ['missed: car 0.700'],
        'Mistakes: cat': ['wrongly found: cat 0.600'],
    }
    assert not any(captions([0.65, 0.65]).values())
    texts = {
        section.title: section.text
        for section in multi_label_sections(predictions, np.full(2, 0.65), Gallery([]), 5)
    }
    assert texts['Worst false negatives'] == ['None at the thresholds above.']
    assert texts['Mistakes: car'] == ['AP 100.0, threshold 0.650: no mistakes.']


def test_f1_of_a_class_by_counting() -> None:
    records = multi_label_records(['x'] * 30)
    predictions = to_predictions(records, NAMES)
    precision, recall, f1 = class_f1(predictions, np.full(3, 0.4), 0)
    counted = [record for record in records if 0 not in record['gt_label_difficult']]
    chosen = [record for record in counted if record['pred_score'][0] >= 0.4]
    right = sum(0 in record['gt_label'] for record in chosen)
    positives = sum(0 in record['gt_label'] for record in counted)
    assert precision == pytest.approx(right / len(chosen))
    assert recall == pytest.approx(right / positives)
    assert f1 == pytest.approx(2 * right / (len(chosen) + positives))
    none = to_predictions([{'pred_score': [0.5, 0.1], 'gt_label': [0]}] * 2, ['a', 'b'])
    assert class_f1(none, np.full(2, 0.4), 1) == (None, None, None)


def test_one_label_or_several() -> None:
    def single(scores: list[float], **record: object) -> bool:
        return to_predictions([{'pred_score': scores, **record}], ['a', 'b']).single

    assert single([0.3, 0.7], gt_label=[1])
    assert not single([0.3, 0.6], gt_label=[1])
    assert not single([0.3, 0.7], gt_label=[0, 1])
    assert not single([0.3, 0.7], gt_label=[1], gt_label_difficult=[])


def test_wrong_images_and_confused_pairs() -> None:
    scores = [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.3, 0.7]]
    labels = [1, 1, 0, 0]
    records = [
        {'pred_score': score, 'gt_label': [label]}
        for score, label in zip(scores, labels, strict=True)
    ]
    predictions = to_predictions(records, ['a', 'b'])
    assert [(m.image, m.label) for m in wrong_images(predictions, 9)] == [(0, 0), (3, 1), (2, 1)]
    assert [m.image for m in wrong_images(predictions, 1, 0)] == [3]
    counts = np.array([[5, 2, 0], [3, 1, 0], [0, 0, 9]])
    assert confused_pairs(counts, 5) == [(1, 0), (0, 1)]
    assert rising(np.array([0.5, np.nan, 0.1])) == [2, 0, 1]


def test_the_newest_predictions_are_found(tmp_path: Path) -> None:
    assert find_predictions(tmp_path) is None
    (tmp_path / 'metrics.json').write_text('{"pred_score": 1}')
    (tmp_path / 'test').mkdir()
    for age, path in ((5, tmp_path / 'a.json'), (1, tmp_path / 'test' / 'b.json')):
        path.write_text(json.dumps(multi_label_records(['x'])))
        os.utime(path, (1e9 - age, 1e9 - age))
    assert find_predictions(tmp_path) == tmp_path / 'test' / 'b.json'


@pytest.mark.parametrize('text', ['nonsense', '[]', '[1]', '{}', '[' * 100_000, '[{"a": 1}]'])
def test_files_that_hold_no_predictions(tmp_path: Path, text: str) -> None:
    path = tmp_path / 'x.json'
    path.write_text(text)
    with pytest.raises(ValueError, match=r'x\.json.*write it with tools/test\.py --out'):
        read_records(path)


def test_records_without_numbers_or_labels() -> None:
    good = {'pred_score': [0.1, 0.2], 'gt_label': [0]}
    for key, value in (('pred_score', ['a', 'b']), ('gt_label', 'ab'), ('gt_label', [[1], [0]])):
        with pytest.raises(ValueError, match=f'{key} of record 0 is no list of numbers'):
            to_predictions([{**good, key: value}], ['a', 'b'])
    with pytest.raises(ValueError, match='neither gt_label nor gt_score'):
        to_predictions([{'pred_score': [0.1, 0.2]}], ['a', 'b'])


def test_only_pictures_of_the_data_are_read(tmp_path: Path, monkeypatch) -> None:
    data, other = tmp_path / 'data', tmp_path / 'data_private'
    for folder in (data, other):
        folder.mkdir()
        Image.new('RGB', (8, 8)).save(folder / 'a.png')
    (data / 'broken.png').write_text('no picture')
    os.mkfifo(data / 'pipe.png')
    monkeypatch.chdir(tmp_path)
    gallery = Gallery(['data'])
    picture, caption = gallery.tile('data/a.png', 'words')
    assert 'base64' in picture
    assert caption == 'words'
    for path in (str(other / 'a.png'), 'data/../data_private/a.png', 'data\0/a.png', '/dev/zero'):
        assert gallery.tile(path, '')[0] == ''
    for path in ('data/broken.png', 'data/gone.png', 'data/pipe.png', 'data'):
        assert gallery.tile(path, '')[0] == ''
    assert gallery.tile(None, '')[0] == ''
    notes = '\n'.join(gallery.notes())
    assert 'name no picture files' in notes
    assert '4 pictures not embedded, being outside' in notes
    assert '4 pictures missing or unreadable' in notes
    assert Gallery([]).tile('data/a.png', '')[0] == ''


def test_links_inside_the_data_are_followed(tmp_path: Path) -> None:
    Image.new('RGB', (8, 8)).save(tmp_path / 'a.png')
    (tmp_path / 'data').mkdir()
    (tmp_path / 'data' / 'link.png').symlink_to(tmp_path / 'a.png')
    assert 'base64' in Gallery([tmp_path / 'data']).tile(f'{tmp_path}/data/link.png', '')[0]


def test_threshold_tables(tmp_path: Path) -> None:
    path = tmp_path / 'thresholds.json'
    measures = {name: 0.5 for name in ('CP', 'CR', 'CF1', 'OP', 'OR')}
    held_out = {'folds': 4, 'measures': {'0.5': {**measures, 'OF1': 0.25}, 'shared': 3}}
    values = {'0': 0.25, '1': 0.5, '2': 1.0}
    path.write_text(json.dumps({'thresholds': values, 'shared': ['2'], 'held_out': held_out}))
    thresholds, record = read_thresholds(path, NAMES)
    assert thresholds.tolist() == [0.25, 0.5, 1.0]
    first, second = threshold_sections(NAMES, thresholds, record, None)
    assert first.columns == ['class', 'threshold', 'remark']
    assert [row[2] for row in first.rows] == ['', '', 'of all classes together: too few positives']
    assert second.rows[0] == ['threshold 0.5', *['50.00'] * 5, '25.00']
    assert second.rows[1][1:] == ['\u2013'] * 6
    predictions = to_predictions(multi_label_records(['x'] * 30), NAMES)
    plain = dict(zip(NAMES, (0.25, 0.5, 1.0), strict=True))
    (only,) = threshold_sections(NAMES, thresholds, {'thresholds': plain, 'shared': 7}, predictions)
    assert [len(row) for row in only.rows] == [len(only.columns)] * 3 == [4] * 3
    assert only.rows[1][2] == only.rows[1][3] == percent(class_f1(predictions, thresholds, 1)[2])
    with pytest.raises(FileNotFoundError, match=r'tools/tune_thresholds\.py'):
        read_thresholds(tmp_path / '0.5', NAMES)


def test_texts() -> None:
    assert [duration(s) for s in (4.4, 65, 3700)] == ['4 s', '1 min 5 s', '1 h 1 min']
    assert [count(1, 'image'), count(2000, 'image')] == ['1 image', '2,000 images']
    assert [number(None), number(float('nan')), percent(0.1234)] == ['\u2013', '\u2013', '12.3']
    assert call_text({'type': 'A', 'b': 1, 'c': {'d': 2}}) == 'A(b=1)'
    assert call_text({'type': dict}) == 'dict'
    assert len(call_text({'type': 'A', 'b': 'x' * 999})) == 200
