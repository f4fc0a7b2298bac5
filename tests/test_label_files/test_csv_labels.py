"""Labels from CSV files."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmshufflemix.label_files.csv_labels import read_csv_labels

EXPECTED = {'a.jpg': ('cat',), 'b.jpg': ('cat', 'dog'), 'c.jpg': ()}


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / 'labels.csv'
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def labels_of(path: Path, **options: str) -> dict[str, tuple[str, ...]]:
    return {row.name: row.labels for row in read_csv_labels(path, **options).rows}


@pytest.mark.parametrize(
    'content',
    [
        'image,cat,dog\na.jpg,1,0\nb.jpg,1,1\nc.jpg,0,0\n',
        'IMG_Path;cat;dog\na.jpg;1;\nb.jpg;1;1\nc.jpg;;\n',
        '\ufefffilename\tcat\tdog\r\na.jpg\t1.0\t0.0\r\n\r\nb.jpg\t1\t1.\r\nc.jpg\t0\t0\r\n',
        'cat,dog,File Name\nyes,no,a.jpg\nTRUE,True,b.jpg\nfalse,No,c.jpg',
        '"image" , "cat", "dog"\n'.replace('" ,', '",')
        + '"a.jpg", 1 , 0 \nb.jpg,1,1\nc.jpg,0,0,\n',
        '\n\nx,cat,dog,\na.jpg,1,0,\n,,,\nb.jpg,1,1,\nc.jpg,0,0,\n',
        'image,labels\na.jpg,cat\nb.jpg,cat;dog\nc.jpg,\n',
        'image,labels\na.jpg,cat\nb.jpg,"cat, dog"\nc.jpg,""\n',
        'image;tags;author\na.jpg;cat;Eve\nb.jpg;dog|cat|;Bob\nc.jpg;;\n',
        'sep=;\r\nimage;stuff\r\na.jpg;cat\r\nb.jpg;"cat;dog"\r\nc.jpg;\r\n',
        'image\tlabels\na.jpg\tcat\nb.jpg\tcat, dog, cat\nc.jpg\t\n',
        "image,labels\na.jpg,['cat']\nb.jpg,\"['cat', 'dog']\"\nc.jpg,[]\n",
        'image;labels\na.jpg;["cat"]\nb.jpg;["cat", "dog"]\nc.jpg;\n',
    ],
)
def test_one_set_in_many_styles(tmp_path: Path, content: str) -> None:
    found = labels_of(write(tmp_path, content))
    assert {name: tuple(sorted(labels)) for name, labels in found.items()} == EXPECTED


def test_columns_keep_their_order_and_names_have_none(tmp_path: Path) -> None:
    assert read_csv_labels(write(tmp_path, 'image,dog,cat\na,1,0\n')).classes == ('dog', 'cat')
    assert read_csv_labels(write(tmp_path, 'image,labels\na,dog\n')).classes is None


def test_numbers_are_names_only_under_a_title_that_says_so(tmp_path: Path) -> None:
    assert labels_of(write(tmp_path, 'image,label\na,1\nb,0\n')) == {'a': ('1',), 'b': ('0',)}
    assert labels_of(write(tmp_path, 'image,cat\na,1\nb,0\n')) == {'a': ('cat',), 'b': ()}


def test_chosen_columns_and_separator(tmp_path: Path) -> None:
    path = write(tmp_path, 'id,image,what,file\n1,x,traffic light/bus,a.jpg\n')
    options = {'image_column': 'file', 'label_column': 'what', 'separator': '/'}
    assert labels_of(path, **options) == {'a.jpg': ('traffic light', 'bus')}
    assert 'not used: id, image' in read_csv_labels(path, **options).notes[1]


def test_places_are_lines_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, '\nimage,labels\n\n"a\n.jpg",cat\nb.jpg,dog\n')
    assert [row.where.split(' of ')[0] for row in read_csv_labels(path).rows] == [
        'line 4',
        'line 6',
    ]


def test_names_of_columns_may_hold_other_delimiters(tmp_path: Path) -> None:
    path = write(tmp_path, '\ufeffimage,"a;b;c","d, e"\r\na.jpg,1,0\r\nb.jpg,0,1\r\n')
    assert read_csv_labels(path).classes == ('a;b;c', 'd, e')
    assert labels_of(path) == {'a.jpg': ('a;b;c',), 'b.jpg': ('d, e',)}


def test_names_with_spaces_are_never_cut_unasked(tmp_path: Path) -> None:
    path = write(tmp_path, 'image,labels\na,traffic light\nb,bus\n')
    with pytest.raises(ValueError, match=r"in column 'labels' of .*'traffic light' may be one"):
        read_csv_labels(path)
    assert labels_of(path, separator=';') == {'a': ('traffic light',), 'b': ('bus',)}
    assert labels_of(path, separator='space') == {'a': ('traffic', 'light'), 'b': ('bus',)}
    known = ['bus', 'traffic light']
    assert [row.labels for row in read_csv_labels(path, classes=known).rows] == [
        ('traffic light',),
        ('bus',),
    ]


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        ('', 'is empty'),
        (' \n\t\n', 'is empty'),
        ('image,cat\n', 'has a header but no row'),
        ('image,cat,dog\na,0,0\nb,-1,0\n', r"line 3 .* has '-1' in column 'cat', expected 0 or 1"),
        ('image,cat\na,-1\nb,1\n', "has '-1' in column 'cat'"),
        ('image,cat,dog\na,0,difficult\n', "'difficult' in column 'dog'.*are not supported"),
        ('image,cat,dog\na,0\n', r'line 2 .* has 2 cells, expected 3 as in the header'),
        ('image,labels\na,cat,dog\n', 'has 3 cells, expected 2.*quotes'),
        ('image,cat,cat\na,0,1\n', "several columns named 'cat'"),
        ('image,cat,\na,0,1\n', 'has 3 cells, expected 2'),
        ('image,,cat\na,0,1\n', 'column 2 .* has no name'),
        ('image\na\n', 'has one column'),
        ('image,file,cat\na,b,1\n', r"could name the pictures \('image', 'file'\)"),
        ('a.jpg,cat\nb.jpg,dog\n', 'begins with the row of a picture'),
        ('image,cat\na,1\n"b,1\n', 'cannot be read from line 3 on.*not closed'),
        ('image,x\na,=1+1\nb,\n', None),
        (b'image,cat\n\xe4.jpg,1\n', r'line 2 .* is not UTF-8 text; save the file as UTF-8'),
        ('image,cat\n'.encode('utf-16'), 'is not UTF-8'),
        (b'\x89PNG\r\n\x1a\n\0\0', 'is not UTF-8'),
    ],
)
def test_faults(tmp_path: Path, content: str | bytes, message: str | None) -> None:
    path = write(tmp_path, content)
    if message is None:
        # A formula is a name like any other; nothing runs it, and JSON is written.
        assert labels_of(path) == {'a': ('=1+1',), 'b': ()}
        return
    with pytest.raises(ValueError, match=message) as caught:
        read_csv_labels(path)
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (
            {'image_column': 'photo'},
            r"no column 'photo', which --image-column names; it has 'image'",
        ),
        ({'label_column': 'tags'}, "no column 'tags', which --label-column names"),
        ({'label_column': 'image'}, 'holds the pictures'),
        ({'separator': ';'}, 'which --separator does not fit'),
        ({'classes': ['cat']}, "columns that are not in --classes: 'dog'"),
        ({'classes': ['cat', 'dog', 'cow']}, "no column for classes of --classes: 'cow'"),
    ],
)
def test_options_that_do_not_fit(tmp_path: Path, options: dict, message: str) -> None:
    path = write(tmp_path, 'image,cat,dog\na.jpg,1,0\n')
    with pytest.raises(ValueError, match=message):
        read_csv_labels(path, **options)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match='does not exist'):
        read_csv_labels(tmp_path / 'nope.csv')
