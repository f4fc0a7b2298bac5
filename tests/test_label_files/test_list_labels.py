"""Labels from text lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmshufflemix.label_files.list_labels import read_list_labels
from mmshufflemix.label_files.table import LabelTable


def read(folder: Path, text: str, classes: list[str] | None = None) -> LabelTable:
    path = folder / 'labels.txt'
    path.write_text(text)
    return read_list_labels(path, classes)


@pytest.mark.parametrize(
    ('line', 'name', 'labels'),
    [
        ('a cat dog cat', 'a', ('cat', 'dog')),
        ('a cat,dog', 'a', ('cat', 'dog')),
        ('my cat: traffic light; dog', 'my cat', ('traffic light', 'dog')),
        ('a.jpg,cat,dog', 'a.jpg', ('cat', 'dog')),
        ('a.JPG; cat; dog', 'a.JPG', ('cat', 'dog')),
        ('my cat.jpg|cat', 'my cat.jpg', ('cat',)),
        ('a,b.jpg cat dog', 'a,b.jpg', ('cat', 'dog')),
        ('a: 1 2', 'a', ('1', '2')),
        ('a 1 2, 3', 'a', ('1', '2', '3')),
        ("a ['cat', 'traffic light']", 'a', ('cat', 'traffic light')),
        ('a.jpg,["cat", "dog"]', 'a.jpg', ('cat', 'dog')),
        ('a: []', 'a', ()),
        ('a 0 1', 'a', ('0', '1')),
        ('a 1', 'a', ('1',)),
        ('a [unk]', 'a', ('[unk]',)),
    ],
)
def test_lines(tmp_path: Path, line: str, name: str, labels: tuple[str, ...]) -> None:
    [row] = read(tmp_path, f'{line}\n').rows
    assert (row.name, row.labels) == (name, labels)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('a traffic light, bus\n', "line 1 .*'traffic light' may be one class or 2; write"),
        ('a.jpg,traffic light,bus\n', "'traffic light' may be one class or 2; write"),
        ('a.jpg, traffic light\n', "'traffic light' may be one class or 2; write"),
        ('a [cat, dog]\n', r"line 1 .* has '\[cat, dog\]', which is no list of quoted names"),
        ('a: [cat, dog]\n', 'is no list of quoted names; write the line as name: label, label'),
        ('a,cat,dog\n', "line 1 .* begins with 'a,cat,dog', expected the name of a picture"),
        ('image,labels\na.jpg,cat\n', 'or choose --format csv if the file has a header'),
        ('a 0 1 0\nb 1 0 0\n', r"^in '.*labels.txt' each picture has 3 values of 0 and 1, .*CSV"),
        ('a: 0 1 0\nb.PNG,1,0,0\n', 'has 3 values of 0 and 1'),
        ('a 0 1\nb [1, 0]\n', 'has 2 values of 0 and 1'),
    ],
)
def test_faults(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        read(tmp_path, text)
    assert '\n' not in str(caught.value)


def test_labels_that_never_occur_apart_are_noted_once(tmp_path: Path) -> None:
    table = read(tmp_path, 'a cat traffic light\nb traffic light cow hen\nc cow hen dog\n')
    assert table.rows[0].labels == ('cat', 'traffic', 'light')
    assert table.notes == (
        "labels that never occur apart: 'traffic light', 'cow hen'; if the words are one name, "
        'write the lines as name: label, label',
    )


@pytest.mark.parametrize(
    'text',
    [
        'a 3 7\nb 3 7\n',
        'a cat dog\nb dog\n',
        'a cat dog\nb dog cat\n',
        'a cat dog\nb cat dog\nc: dog\n',
        'a.jpg,cat,dog\nb.PNG,cat,dog\n',
        'a: cat, dog\nb: cat, dog\n',
        'a cat,dog\nb cat,dog\n',
    ],
)
def test_other_labels_are_not_noted(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).notes == ()


def test_given_classes_decide(tmp_path: Path) -> None:
    known = ['cat', 'traffic light']
    message = "line 2 .* 'traffic light' is one of --classes; write the line as name: label, label"
    with pytest.raises(ValueError, match=message):
        read(tmp_path, 'a cat\nb cat traffic  light\n', known)
    table = read(tmp_path, 'a cat\nb: cat, traffic light\n', known)
    assert table.rows[1].labels == ('cat', 'traffic light')
    table = read(tmp_path, 'a traffic light\nb traffic light\n', ['traffic', 'light'])
    assert table.rows[0].labels == ('traffic', 'light')
    assert table.notes == ()
