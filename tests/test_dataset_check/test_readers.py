"""Folders with every fault, in the three layouts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mmshufflemix.dataset_check import check_dataset
from mmshufflemix.dataset_check.readers.folder import read_folder
from mmshufflemix.dataset_check.readers.voc_folder import choose_lists
from tests.image_trees import save_picture
from tests.test_dataset_check.folders import items, write_json_folder
from tests.voc_tree import write_voc_tree


def test_json_folder_lists_all_faults_of_all_rows(tmp_path: Path) -> None:
    root = write_json_folder(
        tmp_path / 'set',
        {
            'train': [
                ('a.png', [0, 2]),
                ('b.png', ['cat', 'cta']),
                ('c.png', [3, -1, 1]),
                ('d.png', [0, 1, 0]),
                ('e.png', [1, 1]),
                ('a.png', [1]),
                ('f.png', [1]),
                ('f.png', [1]),
                ('g.png', 'cat'),
                ('../h.png', [0]),
                {'gt_label': [0]},
                'i.png',
                {'img_path': 'no.png', 'gt_label': [0], 'gt_label_difficult': [9]},
            ],
            'val': [('a.png', [0, 2]), ('j.png', [])],
        },
    )
    save_picture(root / 'images' / 'more' / 'k.png', 1)
    content = json.loads((root / 'val.json').read_text())
    content['metainfo']['classes'] = ['cat', 'tree', 'dog']
    (root / 'val.json').write_text(json.dumps(content))
    (root / 'test.json').write_text('[]')
    (root / 'thresholds.json').write_text('{"cat": 0.5}')
    dataset = read_folder(root)
    assert [(split.name, len(split.rows)) for split in dataset.splits] == [
        ('train', 11),
        ('val', 2),
    ]
    found = items(check_dataset(dataset).findings)
    assert found['unknown-label', 'train'] == ("b.png (row 2: 'cta')",)
    assert found['out-of-range', 'train'] == (
        'c.png (row 3: 3)',
        'c.png (row 3: -1)',
        'no.png (row 13: 9, difficult)',
    )
    assert found['one-hot', 'train'] == ('d.png (row 4: 0, 1, 0)',)
    assert found['repeated-id', 'train'] == ('e.png (row 5: 1, 1)',)
    assert found['contradiction', 'train'] == ('a.png = a.png',)
    assert found['repeated-row', 'train'] == ('f.png = f.png',)
    assert found['bad-labels', 'train'] == ("g.png (row 9: 'cat')",)
    assert found['outside', 'train'] == ('../h.png (row 10)',)
    assert found['bad-row', 'train'] == ('row 11 has no img_path', 'row 12 has no img_path')
    assert found['missing', 'train'] == ('no.png (no such file)',)
    assert found['different-classes', 'val'] == ("class 1 is 'tree', but 'dog' in train",)
    assert found['leak', 'train, val'] == ('train a.png = val a.png',)
    assert found['no-label', 'val'] == ('j.png',)
    assert ('no-label', 'train') not in found
    assert found['unlisted', 'all splits'] == ('more/k.png',)
    assert 'expected a JSON object' in found['unreadable-split', 'test'][0]


def test_json_without_classes_says_that_and_no_more_of_the_labels(tmp_path: Path) -> None:
    root = write_json_folder(tmp_path / 'set', {'train': [('a.png', [0, 5]), ('b.png', [1])]}, ())
    found = items(check_dataset(read_folder(root)).findings)
    assert list(found) == [('bad-classes', 'train')]


def test_pictures_beside_the_files_where_there_is_no_images_folder(tmp_path: Path) -> None:
    root = write_json_folder(tmp_path / 'set', {'train': [('a.png', [0])]})
    (root / 'images' / 'a.png').rename(root / 'a.png')
    (root / 'images').rmdir()
    assert not check_dataset(read_folder(root)).count('error')


def test_voc_folder(tmp_path: Path) -> None:
    images = {
        'a': [('cat', False), ('person', True)],
        'b': [('dog', False), ('catt', False)],
        'c': [('cat', False)],
        'd': [('cat', False)],
        'e': [],
    }
    root = write_voc_tree(
        tmp_path / 'VOCdevkit' / 'VOC2007',
        images,
        {'train': ['a', 'b', '../x', 'cat  1'], 'val': ['c', 'd'], 'trainval': list('abcd')},
    )
    (root / 'Annotations' / 'c.xml').write_text('<annotation>')
    (root / 'Annotations' / 'd.xml').unlink()
    (root / 'ImageSets' / 'Main' / 'cat_train.txt').write_text('a  1\n')
    (root / 'ImageSets' / 'Main' / 'test.txt').write_text('e\nzz\n')
    dataset = read_folder(tmp_path)
    assert [split.name for split in dataset.splits] == ['train', 'val', 'test']
    assert len(dataset.splits[0].classes) == 20
    assert dataset.splits[0].rows[0].labels == (7, 14)
    assert dataset.splits[0].rows[0].difficult == (14,)
    found = items(check_dataset(dataset).findings)
    assert found['unknown-label', 'train'] == ("b ('catt')",)
    assert found['outside', 'train'] == ('../x (line 3)',)
    assert found['bad-row', 'train'] == ("line 4: 'cat 1'",)
    assert 'not a valid XML file' in found['bad-annotation', 'val'][0]
    assert found['bad-annotation', 'val'][1] == 'd.xml does not exist'
    assert found['bad-annotation', 'test'] == ('zz.xml does not exist',)
    assert found['missing', 'test'] == ('zz.jpg (no such file)',)
    assert found['no-label', 'test'] == ('e.jpg',)


def test_own_classes_of_a_voc_tree(tmp_path: Path) -> None:
    write_voc_tree(
        tmp_path, {'a': [('helmet', False), ('person', False), ('belt', False)]}, {'train': ['a']}
    )
    assert read_folder(tmp_path).splits[0].classes == ('belt', 'helmet', 'person')


@pytest.mark.parametrize(
    ('lists', 'chosen'),
    [
        ({'train': 'a', 'val': 'b', 'trainval': 'ab', 'test': 'c'}, ['train', 'val', 'test']),
        ({'train': 'a', 'val': 'b', 'trainval': 'abd'}, ['trainval']),
        ({'train': 'a', 'trainval': 'ab', 'test': 'c'}, ['trainval', 'test']),
        ({'train': 'a', 'test': 'c'}, ['train', 'test']),
        ({'mine': 'ab', 'cat_mine': ['a 1']}, ['mine']),
    ],
)
def test_lists_that_name_each_image_once(lists: dict, chosen: list[str]) -> None:
    assert choose_lists({name: list(images) for name, images in lists.items()}) == chosen


def test_coco_folder(tmp_path: Path) -> None:
    content = {
        'categories': [{'id': 7, 'name': 'dog'}, {'id': 3, 'name': 'cat'}, {'id': 3, 'name': 'x'}],
        'images': [
            {'id': 1, 'file_name': 'a.png'},
            {'id': 2, 'file_name': '/b.png'},
            {'id': 3},
            {'id': 4, 'file_name': 'd.png'},
        ],
        'annotations': [
            {'image_id': 1, 'category_id': 7},
            {'image_id': 1, 'category_id': 3},
            {'image_id': 1, 'category_id': 8},
            {'image_id': 9, 'category_id': 3},
            'no',
        ],
    }
    (tmp_path / 'annotations').mkdir()
    (tmp_path / 'annotations' / 'instances_train2017.json').write_text(json.dumps(content))
    (tmp_path / 'annotations' / 'instances_val2017.json').write_text('{"images": []}')
    (tmp_path / 'annotations' / 'captions_train2017.json').write_text('{}')
    save_picture(tmp_path / 'train2017' / 'a.png', 0)
    dataset = read_folder(tmp_path)
    assert [split.name for split in dataset.splits] == ['train2017']
    assert dataset.splits[0].classes == ('cat', 'dog')
    assert [row.labels for row in dataset.splits[0].rows] == [(0, 1), (), ()]
    found = items(check_dataset(dataset).findings)
    assert found['unknown-label', 'train2017'] == ('image 1 (annotation 3: category_id 8)',)
    assert found['bad-row', 'train2017'] == (
        'categories 3 repeats the id 3',
        'images 3 lacks id or file_name',
        'annotation 4 has image_id 9',
        'annotation 5 has image_id None',
    )
    assert found['outside', 'train2017'] == ('/b.png',)
    assert found['missing', 'train2017'] == ('d.png (no such file)',)
    assert found['unreadable-split', 'val2017'] == (
        'instances_val2017.json has no list annotations or categories',
    )


def test_other_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / 'notes.json').write_text('{}')
    with pytest.raises(ValueError, match=r'has no data set; expected train\.json, val\.json'):
        read_folder(tmp_path)
