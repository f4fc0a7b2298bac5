from __future__ import annotations

import json

import pytest
from mmpretrain.registry import DATASETS

from mmshufflemix.datasets.multi_label_json import MultiLabelJSON, read_labels

IDS = {'cat': 0, 'dog': 1, 'person': 2}


def build(tmp_path, rows, classes=tuple(IDS), **options):
    metainfo = {} if classes is None else {'classes': classes}
    content = {'metainfo': metainfo, 'data_list': rows}
    (tmp_path / 'a.json').write_text(json.dumps(content))
    return MultiLabelJSON(ann_file='a.json', data_root=str(tmp_path), **options)


def row(value, **more):
    return {'img_path': 'x.jpg', 'gt_label': value, **more}


def test_ids_and_names(tmp_path):
    rows = [row([2, 0]), row(['dog', 'cat', 'dog']), row([]), row([1], gt_label_difficult=['cat'])]
    dataset = build(tmp_path, rows, data_prefix='pictures')
    infos = [dataset.get_data_info(i) for i in range(4)]
    assert [info['gt_label'] for info in infos] == [[0, 2], [0, 1], [], [1]]
    assert [info['gt_label_difficult'] for info in infos] == [[], [], [], [0]]
    assert infos[0]['img_path'] == str(tmp_path / 'pictures' / 'x.jpg')
    assert dataset.metainfo['classes'] == tuple(IDS)


def test_same_labels_as_mmpretrain_where_it_is_right(tmp_path):
    ours = build(tmp_path, [row([0, 2]), row([1]), row([])])
    theirs = DATASETS.build(
        {'type': 'MultiLabelDataset', 'ann_file': 'a.json', 'data_root': str(tmp_path)}
    )
    assert [ours.get_cat_ids(i) for i in range(3)] == [theirs.get_cat_ids(i) for i in range(3)]


@pytest.mark.parametrize(
    ('value', 'message'),
    [
        ([1, 0, 1], 'looks one-hot'),
        ([0, 0, 0], 'looks one-hot'),
        (1, 'is 1, expected a list of class ids 0..2 or of class names'),
        ('dog', "is 'dog', expected a list"),
        (None, 'is None, expected a list'),
        ([0, 3], 'ids out of range'),
        ([-1], 'ids out of range'),
        ([2, 2], 'repeated ids'),
        ([1.0], 'expected a list of class ids'),
        ([True, False, True], 'expected a list of class ids'),
        ([True], 'expected a list of class ids'),
        ([[0]], 'expected a list of class ids'),
        ([0, 'dog'], 'expected a list of class ids'),
        (['cat', 'ant', 'bee'], 'has 2 names not in `classes`: ant, bee'),
    ],
)
def test_doubtful_rows_are_refused_with_file_and_row(tmp_path, value, message):
    with pytest.raises(ValueError, match=rf'gt_label in row 2 of .*a\.json.*{message}'):
        build(tmp_path, [row([0]), row(value)])


def test_difficult_is_checked_as_well(tmp_path):
    with pytest.raises(ValueError, match=r'gt_label_difficult in row 1 of .* out of range'):
        build(tmp_path, [row([0], gt_label_difficult=[7])])


def test_two_classes():
    ids = {'a': 0, 'b': 1}
    assert read_labels([0, 1], ids, 'row') == [0, 1]
    for doubtful in ([1, 0], [1, 1], [0, 0]):
        with pytest.raises(ValueError, match='looks one-hot'):
            read_labels(doubtful, ids, 'row')


def test_one_class():
    assert read_labels([0], {'a': 0}, 'row') == [0]
    with pytest.raises(ValueError, match='out of range'):
        read_labels([1], {'a': 0}, 'row')


def test_classes_from_the_config(tmp_path):
    dataset = build(tmp_path, [row(['dog'])], classes=None, metainfo={'classes': list(IDS)})
    assert dataset.get_cat_ids(0) == [1]
    with pytest.raises(ValueError, match='names no classes; add them to its metainfo'):
        build(tmp_path, [row([0])], classes=None)
    with pytest.raises(ValueError, match=r'`classes` \(b, a\) differ from those in .* \(a, b\)'):
        build(tmp_path, [row([0])], classes=['a', 'b'], metainfo={'classes': ['b', 'a']})


@pytest.mark.parametrize('bad', ['x.jpg', {'gt_label': [0]}, {'img_path': 3, 'gt_label': [0]}])
def test_row_without_picture(tmp_path, bad):
    with pytest.raises(ValueError, match=r'row 1 of .* has no img_path'):
        build(tmp_path, [bad])


@pytest.mark.parametrize('content', [{'metainfo': {}}, {'data_list': [], 'metainfo': 3}])
def test_wrong_structure(tmp_path, content):
    (tmp_path / 'a.json').write_text(json.dumps(content))
    with pytest.raises(ValueError, match='must hold a list `data_list` and a dict `metainfo`'):
        MultiLabelJSON(ann_file=str(tmp_path / 'a.json'))


def test_no_rows(tmp_path):
    with pytest.raises(ValueError, match='found no image to use'):
        build(tmp_path, [])
