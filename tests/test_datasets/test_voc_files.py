from __future__ import annotations

import pytest

from mmshufflemix.datasets.voc_files import read_annotations, read_image_list, read_objects
from tests.voc_tree import annotation, write_voc_tree

BOMB = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;">]>'
    '<annotation><object><name>&b;</name></object></annotation>'
)


def test_image_list_skips_blank_lines_and_byte_order_mark(tmp_path):
    path = tmp_path / 'train.txt'
    path.write_bytes(b'\xef\xbb\xbf000005\r\n\r\n  000007  \n\n2008_000001')
    assert read_image_list(str(path)) == ['000005', '000007', '2008_000001']


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('', 'train.txt is empty; expected one image id a line'),
        ('\n \n', 'train.txt is empty'),
        ('000005 -1\n', "line 1 of .*'000005 -1', expected one image id; use the list of a split"),
        ('1\n../../etc/passwd\n', r"names the image '\.\./\.\./etc/passwd', which leads out"),
        ('/etc/passwd\n', 'leads out of the image folder'),
    ],
)
def test_bad_image_list(tmp_path, text, message):
    path = tmp_path / 'train.txt'
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_image_list(str(path))


def test_no_image_list(tmp_path):
    with pytest.raises(FileNotFoundError, match=r'nope.txt does not exist; set data_root'):
        read_image_list(str(tmp_path / 'nope.txt'))


def test_objects_in_file_order_with_and_without_tag(tmp_path):
    path = tmp_path / 'a.xml'
    path.write_text(annotation('a', [('cat', True), ('dog', None), ('cat', False)]))
    assert read_objects(str(path)) == [('cat', True), ('dog', False), ('cat', False)]


def test_parts_are_not_objects(tmp_path):
    path = tmp_path / 'a.xml'
    path.write_text(
        '<annotation><object><part><name>head</name></part><name> person\n</name>'
        '<difficult> 1 </difficult></object></annotation>'
    )
    assert read_objects(str(path)) == [('person', True)]


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        (BOMB, 'declares a document type'),
        ('<annotation><object>', 'is not a valid XML file'),
        ('', 'is not a valid XML file'),
        ('<?xml version="1.0" encoding="nonsense"?><annotation/>', 'is not a valid XML file'),
        ('<images/>', 'holds <images>, expected the <annotation> of VOC'),
        ('<annotation><object/></annotation>', 'object 1 of .* has no name'),
        (annotation('a', [('cat', 2)]), "object 1 of .* difficult='2', expected 0 or 1"),
    ],
)
def test_bad_annotation(tmp_path, text, message):
    path = tmp_path / 'a.xml'
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_objects(str(path))


def test_entity_bomb_in_another_encoding(tmp_path):
    path = tmp_path / 'a.xml'
    path.write_bytes(BOMB.replace('"1.0"', '"1.0" encoding="UTF-16"').encode('utf-16'))
    with pytest.raises(ValueError, match='declares a document type or is not UTF-8'):
        read_objects(str(path))


def test_annotations_of_a_list_in_its_order(tmp_path):
    root = write_voc_tree(tmp_path, {'1': [('cat', False)], '2': []}, {'train': ['2', '1', '2']})
    image_list = root / 'ImageSets' / 'Main' / 'train.txt'
    names, objects = read_annotations(str(image_list), str(root / 'Annotations'))
    assert names == ['2', '1', '2']
    assert objects == [[], [('cat', False)], []]
    (root / 'Annotations' / '1.xml').unlink()
    with pytest.raises(FileNotFoundError, match='1 of 3 annotation files are missing'):
        read_annotations(str(image_list), str(root / 'Annotations'))
