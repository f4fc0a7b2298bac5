"""Annotation files, lists and tables of strangers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mmshufflemix.datasets import MultiLabelJSON
from mmshufflemix.datasets.voc_files import read_image_list, read_objects
from mmshufflemix.evaluation.threshold_report import read_predictions
from mmshufflemix.inference.class_thresholds import threshold_vector
from mmshufflemix.inference.names import read_names
from mmshufflemix.json_reading import parse_json
from mmshufflemix.robustness.report import read_record
from tests.test_hostile.tool_call import call_tool, error_of
from tests.test_inference.models import write_pictures

DEEP = '[' * 100_000
PATHS = ['../../x', '/etc/passwd', 'a/../../x']
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
    '<annotation><object><name>&b;</name></object></annotation>'
)
EXTERNAL = LAUGHS.replace('"ha"', 'SYSTEM "file:///etc/passwd"')
RECORD = {'img_path': 'a', 'pred_score': [0.1, 0.9], 'gt_label': [1]}
STUDY = {
    'metric': 'accuracy/top1',
    'clean': 90.0,
    'results': [{'noise': 'white', 'level': 0.1, 'mode': None, 'mean': 3.0, 'std': 0.1}],
}


@pytest.mark.parametrize('text', [LAUGHS, EXTERNAL])
@pytest.mark.parametrize('encoding', ['utf-8', 'utf-16', 'utf-7', 'cp037'])
def test_no_entity_is_expanded(text: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / 'a.xml'
    declared = text.replace('1.0"', f'1.0" encoding="{encoding}"')
    path.write_bytes(declared.encode(encoding))
    with pytest.raises(ValueError, match=r'a\.xml (declares a document type|is not a valid XML)'):
        read_objects(str(path))


@pytest.mark.parametrize('content', [b'', b'<a>' * 100_000, b'<annotation>\xff</annotation>'])
def test_torn_annotations(content: bytes, tmp_path: Path) -> None:
    (tmp_path / 'a.xml').write_bytes(content)
    with pytest.raises(ValueError, match='is not a valid XML file'):
        read_objects(str(tmp_path / 'a.xml'))


@pytest.mark.parametrize('name', PATHS)
def test_no_list_leads_out_of_the_folder(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{'img_path': name, 'gt_label': [0]}]
    text = json.dumps({'metainfo': {'classes': ['a', 'b']}, 'data_list': rows})
    (tmp_path / 'labels.json').write_text(text)
    (tmp_path / 'list.txt').write_text(f'{name}\n')
    (tmp_path / 'labels.txt').write_text(f'{name} cat\n')
    (tmp_path / 'labels.csv').write_text(f'image,labels\n{name},cat\n')
    coco = {
        'images': [{'id': 1, 'file_name': name}],
        'annotations': [],
        'categories': [{'id': 1, 'name': 'a'}],
    }
    (tmp_path / 'coco.json').write_text(json.dumps(coco))
    write_pictures(tmp_path / 'images', 1)
    with pytest.raises(ValueError, match='leads out of the image folder'):
        MultiLabelJSON(ann_file=str(tmp_path / 'labels.json'), pipeline=[])
    with pytest.raises(ValueError, match='leads out of the image folder'):
        read_image_list(str(tmp_path / 'list.txt'))
    calls = [('split_dataset', tmp_path / 'labels.json', '-o', tmp_path / 'out')]
    for source in ('labels.txt', 'labels.csv', 'coco.json'):
        target = ['--images', tmp_path / 'images', '-o', tmp_path / 'out.json']
        calls.append(('convert_labels', tmp_path / source, *target))
    for call in calls:
        sentence = error_of(call_tool(capsys, *call))
        assert 'out of the image folder' in sentence or 'no name inside the pic' in sentence, call
    assert not (tmp_path / 'out').exists()
    assert not (tmp_path / 'out.json').exists()


@pytest.mark.parametrize('name', ['C:\\x.png', '\\\\host\\x.png', '..\\x.png', 'x\0.png'])
def test_names_of_other_systems(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / 'labels.csv').write_text(f'image,labels\n{name},cat\n')
    images = write_pictures(tmp_path / 'images', 1)[0]
    target = ['--images', Path(images).parent, '-o', tmp_path / 'out.json']
    sentence = error_of(call_tool(capsys, 'convert_labels', tmp_path / 'labels.csv', *target))
    assert 'no name inside the picture folder' in sentence


def test_json_that_is_nested_endlessly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / 'deep.json'
    write_pictures(tmp_path, 1)
    for text in (DEEP, '{"a":' * 100_000):
        path.write_text(text)
        for call in (
            ('tune_thresholds', path, '-o', tmp_path / 'out'),
            ('split_dataset', path, '-o', tmp_path / 'out'),
            ('convert_labels', path, '--images', tmp_path, '-o', tmp_path / 'out.json'),
            ('robustness', '--draw', path, '--plot', tmp_path / 'out.png'),
        ):
            assert 'JSON' in error_of(call_tool(capsys, *call)), call
        with pytest.raises(ValueError, match='nested too deeply'):
            threshold_vector(str(path), ['a'])


def test_keys_that_come_twice() -> None:
    assert parse_json('{"a": 1, "a": 2}') == {'a': 2}
    with pytest.raises(ValueError, match='several entries of a'):
        parse_json('[{"b": {"a": 1, "a": 2}}]', unique_keys=True)


def test_thresholds_of_a_stranger(tmp_path: Path) -> None:
    path = tmp_path / 't.json'
    for text in (
        '{"a": 0.5, "a": 0.9}',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": "0.5"}',
        '{"a": true}',
        '{"a": [0.5]}',
        '[0.5]',
        '\0',
        '1' * 5000,
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match='threshold'):
            threshold_vector(str(path), ['a'])


@pytest.mark.parametrize(
    'change',
    [
        {'pred_score': ['a', 'b']},
        {'pred_score': [[1], [2, 3]]},
        {'pred_score': [None, 1]},
        {'pred_score': [10**400, 1]},
        {'pred_score': [float('inf'), 1]},
        {'pred_score': [float('nan'), 1]},
        {'gt_label': 'x'},
        {'gt_label': {'a': 1}},
        {'gt_label': None},
        {'gt_label': [10**30]},
        {'gt_label': [[1]]},
        {'gt_label_difficult': 'x'},
    ],
)
def test_predictions_of_a_stranger(change: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / 'r.json'
    path.write_text(json.dumps([{**RECORD, **change}]))
    with pytest.raises(ValueError, match=r'expected|NaN') as caught:
        read_predictions(path)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize('change', [{'clean': 10**400}, {'clean': '9'}, {'results': [5]}])
def test_studies_of_a_stranger(change: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / 's.json').write_text(json.dumps({**STUDY, **change}))
    with pytest.raises(ValueError, match='robustness study'):
        read_record(tmp_path / 's.json')


def test_a_study_with_a_negative_deviation(tmp_path: Path) -> None:
    result = {**STUDY['results'][0], 'std': -1.0}
    (tmp_path / 's.json').write_text(json.dumps({**STUDY, 'results': [result]}))
    with pytest.raises(ValueError, match='entry 0 of the results'):
        read_record(tmp_path / 's.json')


def test_texts_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / 'names.txt'
    path.write_bytes(b'\xff\xfe')
    for read in (read_names, read_image_list):
        with pytest.raises(ValueError, match=r'not UTF-8 text'):
            read(str(path))


def test_a_table_with_thousands_of_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its header is longer than the longest cell that the csv module reads."""
    picture = Path(write_pictures(tmp_path / 'images', 1)[0])
    header = ','.join(['image', *(f'class{i}' for i in range(20_000))])
    (tmp_path / 'l.csv').write_text(f'{header}\n{picture.name}{",1" * 20_000}\n')
    target = ['--images', picture.parent, '-o', tmp_path / 'out.json']
    assert call_tool(capsys, 'convert_labels', tmp_path / 'l.csv', *target).code == 0
    rows = json.loads((tmp_path / 'out.json').read_text())['data_list']
    assert rows[0]['gt_label'] == list(range(20_000))
