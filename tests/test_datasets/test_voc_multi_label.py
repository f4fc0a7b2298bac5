from __future__ import annotations

import tarfile

import numpy as np
import pytest

from mmshufflemix.datasets.voc_multi_label import VOCMultiLabel
from tests.voc_tree import write_voc_tree

IMAGES = {
    'one': [('dog', False), ('cat', True), ('dog', False)],
    'two': [('cat', True)],
    'three': [('person', None), ('cat', True), ('cat', False)],
    'four': [],
}
CAT, DOG, PERSON = 7, 11, 14  # places in VOC's alphabetical list


@pytest.fixture
def root(tmp_path):
    return write_voc_tree(tmp_path / 'VOC2007', IMAGES, {'train': list(IMAGES), 'test': ['two']})


def labels(dataset):
    return [dataset.get_data_info(i)['gt_label'] for i in range(len(dataset))]


@pytest.mark.parametrize(
    ('options', 'expected'),
    [
        ({}, [[CAT, DOG], [CAT], [CAT, PERSON], []]),
        ({'difficult': 'negative'}, [[DOG], [], [CAT, PERSON], []]),
        ({'difficult': 'ignore'}, [[CAT, PERSON], []]),
        ({'test_mode': True}, [[DOG], [], [CAT, PERSON], []]),
        ({'test_mode': True, 'difficult': 'ignore'}, [[DOG], [], [CAT, PERSON], []]),
    ],
)
def test_difficult_rule(root, options, expected):
    dataset = VOCMultiLabel(str(root), split='train', **options)
    assert labels(dataset) == expected


@pytest.mark.parametrize('test_mode', [False, True])
def test_difficult_only_classes_are_recorded(root, test_mode):
    dataset = VOCMultiLabel(str(root), split='train', test_mode=test_mode)
    recorded = [dataset.get_data_info(i)['gt_label_difficult'] for i in range(4)]
    assert recorded == [[CAT], [CAT], [], []]
    assert [dataset.get_cat_ids(i) for i in range(4)] == labels(dataset)


def test_paths_and_sample_through_the_pipeline(root):
    keys = ('img_path', 'gt_label_difficult')
    pipeline = [{'type': 'LoadImageFromFile'}, {'type': 'PackInputs', 'meta_keys': keys}]
    dataset = VOCMultiLabel(str(root), split='test', test_mode=True, pipeline=pipeline)
    sample = dataset[0]
    assert sample['inputs'].shape == (3, 32, 40)
    assert sample['data_samples'].img_path == str(root / 'JPEGImages' / 'two.jpg')
    assert sample['data_samples'].gt_label.tolist() == []
    assert sample['data_samples'].gt_label_difficult == [CAT]


def test_own_classes_in_their_own_order(tmp_path):
    images = {'a': [('zebra', False), ('ant', None)], 'b': [('ant', True)]}
    root = write_voc_tree(tmp_path, images, {'mine': ['b', 'a']})
    dataset = VOCMultiLabel(str(root), split='mine', metainfo={'classes': ('zebra', 'ant')})
    assert labels(dataset) == [[1], [0, 1]]
    assert dataset.metainfo['classes'] == ('zebra', 'ant')


def test_unknown_classes_are_counted(tmp_path):
    images = {'a': [('zebra', False), ('cat', False)], 'b': [('ant', True), ('ant', True)]}
    root = write_voc_tree(tmp_path, images, {'train': ['a', 'b']})
    message = r'3 of 4 objects .* not in `classes`: ant, zebra; .*metainfo=dict\(classes=\(...\)\)'
    with pytest.raises(ValueError, match=message):
        VOCMultiLabel(str(root), split='train')


def test_other_classes_are_left_out_if_asked_for(tmp_path):
    images = {
        'a': [('zebra', False), ('cat', False)],
        'b': [('ant', True), ('cat', True), ('dog', False)],
        'c': [('ant', False)],
    }
    root = write_voc_tree(tmp_path, images, {'train': list(images)})
    options = {'split': 'train', 'metainfo': {'classes': ('dog', 'cat')}}
    with pytest.raises(ValueError, match=r"3 of 6 objects .* ant, zebra; .*other_classes='skip'"):
        VOCMultiLabel(str(root), **options)
    dataset = VOCMultiLabel(str(root), other_classes='skip', difficult='negative', **options)
    assert labels(dataset) == [[1], [0], []]
    assert [dataset.get_data_info(i)['gt_label_difficult'] for i in range(3)] == [[], [1], []]
    with pytest.raises(ValueError, match="other_classes must be 'error' or 'skip', got 'ignore'"):
        VOCMultiLabel(str(root), other_classes='ignore', **options)


def test_unknown_rule(root):
    with pytest.raises(ValueError, match=r"difficult must be 'positive', .* got 'maybe'"):
        VOCMultiLabel(str(root), split='train', difficult='maybe')


def test_missing_annotations_are_counted(root):
    for name in ('two', 'four'):
        (root / 'Annotations' / f'{name}.xml').unlink()
    with pytest.raises(FileNotFoundError, match=r'2 of 4 annotation files are missing: .*two.xml'):
        VOCMultiLabel(str(root), split='train')


def test_missing_split(root):
    with pytest.raises(FileNotFoundError, match=r'val.txt does not exist'):
        VOCMultiLabel(str(root), split='val')


def test_nothing_left_by_the_rule(root):
    with pytest.raises(ValueError, match=r'found no image to use in .*test.txt'):
        VOCMultiLabel(str(root), split='test', difficult='ignore')


def test_other_folder_and_ending(root):
    (root / 'JPEGImages').rename(root / 'small')
    for path in (root / 'small').iterdir():
        path.rename(path.with_suffix('.jpeg'))
    dataset = VOCMultiLabel(
        str(root),
        split='train',
        data_prefix={'img_path': 'small'},
        img_suffix='.jpeg',
        pipeline=[{'type': 'LoadImageFromFile'}],
    )
    assert dataset[3]['img'].shape == (32, 40, 3)


@pytest.fixture(scope='module')
def real_root(shared_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp('voc2007')
    with tarfile.open(shared_data / 'voc2007_annotations.tar.xz') as archive:
        archive.extractall(folder, filter='data')
    return folder / 'VOCdevkit' / 'VOC2007'


def test_real_trainval_counts(shared_data, real_root):
    dataset = VOCMultiLabel(str(real_root), split='trainval', difficult='negative')
    assert len(dataset) == 5011
    counts = np.bincount(np.concatenate(labels(dataset)), minlength=20)
    named = dict(zip(dataset.metainfo['classes'], counts.tolist(), strict=True))
    stated = {'aeroplane': 238, 'bicycle': 243, 'bird': 330, 'boat': 181, 'bottle': 244}
    assert {name: named[name] for name in stated} == stated
    assert named['person'] == 2008
    with np.load(shared_data / 'graph_voc.npz', allow_pickle=False) as graph:
        assert named == dict(zip(graph['classes'].tolist(), graph['counts'].tolist(), strict=True))


@pytest.mark.parametrize('split', ['trainval', 'test'])
def test_real_flags_equal_the_official_lists(real_root, split):
    dataset = VOCMultiLabel(str(real_root), split=split, test_mode=True)
    infos = [dataset.get_data_info(i) for i in range(len(dataset))]
    for class_id, name in enumerate(dataset.metainfo['classes']):
        lines = (real_root / 'ImageSets' / 'Main' / f'{name}_{split}.txt').read_text().split('\n')
        official = [int(line.split()[1]) for line in lines if line.strip()]
        ours = [
            1
            if class_id in info['gt_label']
            else 0
            if class_id in info['gt_label_difficult']
            else -1
            for info in infos
        ]
        assert ours == official


def test_real_ignore_leaves_out_every_image_with_a_difficult_only_class(real_root):
    every = VOCMultiLabel(str(real_root), split='trainval')
    doubtful = sum(bool(every.get_data_info(i)['gt_label_difficult']) for i in range(len(every)))
    kept = VOCMultiLabel(str(real_root), split='trainval', difficult='ignore')
    assert doubtful > 0
    assert len(kept) == len(every) - doubtful
