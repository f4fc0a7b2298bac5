from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from mmshufflemix.datasets.coco_multi_label import COCOMultiLabel, read_instances


def small():
    objects = [(11, 90), (11, 1), (11, 90), (12, 13), (14, 1), (14, 13), (14, 90)]
    return {
        'images': [{'id': i, 'file_name': f'{i}.jpg'} for i in (15, 11, 12, 13, 14)],
        'categories': [
            {'id': 90, 'name': 'toothbrush'},
            {'id': 1, 'name': 'person'},
            {'id': 13, 'name': 'stop sign'},
        ],
        'annotations': [
            {'id': number, 'image_id': image, 'category_id': category, 'iscrowd': 0}
            for number, (image, category) in enumerate(objects)
        ],
    }


def build(tmp_path, content, **options):
    (tmp_path / 'instances.json').write_text(json.dumps(content))
    return COCOMultiLabel(ann_file='instances.json', data_root=str(tmp_path), **options)


def labels(dataset):
    return [dataset.get_data_info(i)['gt_label'] for i in range(len(dataset))]


def test_ids_with_gaps_become_consecutive_and_labels_occur_once(tmp_path, capsys):
    dataset = build(tmp_path, small(), data_prefix='train')
    assert dataset.metainfo['classes'] == ('person', 'stop sign', 'toothbrush')
    assert labels(dataset) == [[], [0, 2], [1], [], [0, 1, 2]]
    first = dataset.get_data_info(0)
    assert first['img_path'] == str(tmp_path / 'train' / '15.jpg')
    assert first['gt_label_difficult'] == []
    assert capsys.readouterr().out == ''


def test_order_and_subset_by_name(tmp_path):
    dataset = build(tmp_path, small(), metainfo={'classes': ['toothbrush', 'person']})
    assert labels(dataset) == [[], [0, 1], [], [], [0, 1]]
    with pytest.raises(ValueError, match=r'1 of 2 names .* not categories of .*: cat; it has'):
        build(tmp_path, small(), metainfo={'classes': ('person', 'cat')})


def test_crowd_objects_count(tmp_path):
    content = small()
    content['annotations'][3]['iscrowd'] = 1
    assert labels(build(tmp_path, content))[2] == [1]


def change(content, key, number, **values):
    content[key][number].update(values)


@pytest.mark.parametrize(
    ('damage', 'message'),
    [
        (lambda c: c.pop('categories'), "lacks categories, expected COCO's instances format"),
        (lambda c: change(c, 'annotations', 0, category_id=2), '1 of 7 .* category_id .*: 2'),
        (lambda c: change(c, 'annotations', 0, image_id=99), '1 of 7 .* image_id .* images: 99'),
        (lambda c: change(c, 'images', 0, id=11), '5 images but 4 different ids'),
        (lambda c: change(c, 'categories', 0, id=1), '3 categories but 2 different ids'),
        (lambda c: change(c, 'categories', 0, name='person'), 'with person repeated'),
        (lambda c: c['annotations'][2].pop('image_id'), "instances format .*'image_id'"),
        (lambda c: c['images'][2].pop('file_name'), "instances format .*'file_name'"),
        (lambda c: c.update(images=[1, 2]), "not in COCO's instances format"),
        (lambda c: c.update(images=[], annotations=[]), 'found no image to use'),
        (lambda c: change(c, 'images', 0, file_name='../a.jpg'), "'../a.jpg', which leads out"),
    ],
)
def test_bad_file(tmp_path, damage, message):
    content = small()
    damage(content)
    with pytest.raises(ValueError, match=message):
        build(tmp_path, content)


def test_missing_pictures(tmp_path):
    with pytest.raises(FileNotFoundError, match=r'5 of 5 images are missing: .*15.jpg'):
        build(tmp_path, small(), pipeline=[{'type': 'LoadImageFromFile'}])


def test_without_pycocotools(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'pycocotools.coco', None)
    with pytest.raises(ImportError, match='needs pycocotools; pip install pycocotools'):
        build(tmp_path, small())


@pytest.mark.parametrize('split', ['train2017', 'val2017'])
def test_real_subset(shared_data, split):
    root = shared_data / 'coco_subset'
    path = root / 'annotations' / f'instances_{split}.json'
    options = {'ann_file': str(path), 'data_root': str(root), 'data_prefix': split}
    dataset = COCOMultiLabel(**options, pipeline=[{'type': 'LoadImageFromFile'}])
    assert len(dataset) == 50
    assert dataset[0]['img'].ndim == 3
    raw = json.loads(path.read_text())
    names = {category['id']: category['name'] for category in raw['categories']}
    for image, found in zip(raw['images'], labels(dataset), strict=True):
        objects = [entry for entry in raw['annotations'] if entry['image_id'] == image['id']]
        expected = {names[entry['category_id']] for entry in objects}
        assert {dataset.metainfo['classes'][i] for i in found} == expected
        assert len(found) == len(expected)
    with np.load(shared_data / 'graph_coco.npz', allow_pickle=False) as graph:
        order = graph['classes'].tolist()
    reordered = COCOMultiLabel(**options, metainfo={'classes': order})
    ours = [{dataset.metainfo['classes'][i] for i in found} for found in labels(dataset)]
    assert [{order[i] for i in found} for found in labels(reordered)] == ours


def test_read_instances_keeps_the_order_of_the_file(tmp_path):
    (tmp_path / 'a.json').write_text(json.dumps(small()))
    categories, images = read_instances(str(tmp_path / 'a.json'))
    assert list(categories.items()) == [(1, 'person'), (13, 'stop sign'), (90, 'toothbrush')]
    assert images[:2] == [('15.jpg', set()), ('11.jpg', {1, 90})]
