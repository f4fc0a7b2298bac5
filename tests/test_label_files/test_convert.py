"""From labels in any format to the JSON form, with their pictures."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from mmshufflemix.datasets import MultiLabelJSON
from mmshufflemix.files import write_json
from mmshufflemix.label_files import (
    ReadOptions,
    convert_labels,
    describe_conversion,
    read_class_names,
)
from mmshufflemix.label_files.detection_sets import read_voc_labels
from mmshufflemix.label_files.picture_names import safe_name
from tests.voc_tree import write_voc_tree

OUTSIDE = [
    '../../x.jpg',
    'cats/../../x.jpg',
    '/etc/passwd',
    '..\\x.jpg',
    'C:\\x.jpg',
    'c:x.jpg',
    '\\\\server\\x.jpg',
    'http://host/x.jpg',
    'a\x1b.jpg',
    '..',
    '.',
    ' ',
]


def write_images(folder: Path, names: Iterable[str]) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return folder


def write_list(folder: Path, text: str) -> Path:
    path = folder / 'labels.txt'
    path.write_text(text)
    return path


def rows_of(content: dict) -> dict[str, list[str]]:
    names = content['metainfo']['classes']
    return {row['img_path']: [names[i] for i in row['gt_label']] for row in content['data_list']}


@pytest.fixture
def images(tmp_path: Path) -> Path:
    return write_images(
        tmp_path / 'images', ['a.jpg', 'b.PNG', 'my cat.jpg', 'sub/c.jpeg', 'x.txt']
    )


def test_text_list(tmp_path: Path, images: Path) -> None:
    text = """# name and labels
a cat dog   # ending found
b.PNG: traffic light, dog
my cat.jpg: cat
./sub\\c.jpeg
"""
    result = convert_labels(write_list(tmp_path, text), images)
    assert result.content['metainfo']['classes'] == ['cat', 'dog', 'traffic light']
    assert rows_of(result.content) == {
        'a.jpg': ['cat', 'dog'],
        'b.PNG': ['dog', 'traffic light'],
        'my cat.jpg': ['cat'],
        'sub/c.jpeg': [],
    }


def test_the_data_set_reads_what_is_written(tmp_path: Path, images: Path) -> None:
    path = write_list(tmp_path, 'a cat dog\nb.PNG\nsub/c dog\n')
    write_json(tmp_path / 'all.json', convert_labels(path, images).content)
    dataset = MultiLabelJSON(
        'all.json',
        data_root=str(tmp_path),
        data_prefix={'img_path': 'images'},
        pipeline=[{'type': 'PackInputs'}],
    )
    assert dataset.metainfo['classes'] == ('cat', 'dog')
    found = [dataset.get_data_info(index) for index in range(len(dataset))]
    assert [info['gt_label'] for info in found] == [[0, 1], [], [1]]
    assert all(Path(info['img_path']).is_file() for info in found)


@pytest.mark.parametrize('name', OUTSIDE)
def test_names_that_lead_out_of_the_folder(name: str) -> None:
    with pytest.raises(ValueError, match='line 7 names the picture .* no name inside'):
        safe_name(name, 'line 7')


@pytest.mark.parametrize(
    'name', [name for name in OUTSIDE if name.strip(' .') and '\x1b' not in name]
)
@pytest.mark.parametrize('kind', ['csv', 'list', 'coco'])
def test_no_format_lets_names_lead_out(tmp_path: Path, images: Path, kind: str, name: str) -> None:
    write_images(tmp_path.parent, ['x.jpg'])
    path = tmp_path / 'labels'
    if kind == 'coco':
        entry = {'id': 1, 'file_name': name}
        content = {'images': [entry], 'categories': [{'id': 1, 'name': 'cat'}], 'annotations': []}
        path.write_text(json.dumps(content))
    else:
        path.write_text(f'image,labels\n{name},cat\n' if kind == 'csv' else f'{name} cat\n')
    with pytest.raises((ValueError, FileNotFoundError), match=r'leads out|no name inside|not in '):
        convert_labels(path, images, kind)


def test_missing_pictures(tmp_path: Path, images: Path) -> None:
    path = write_list(tmp_path, 'a cat\nnope.jpg dog\nx.txt dog\n')
    message = r'2 of 3 pictures are not in .*, first by line 2 of .*: nope.jpg, x.txt; add them'
    with pytest.raises(FileNotFoundError, match=message):
        convert_labels(path, images)
    result = convert_labels(path, images, missing='skip')
    assert rows_of(result.content) == {'a.jpg': ['cat']}
    assert 'left out without a picture: 2 (nope.jpg, x.txt)' in result.notes
    with pytest.raises(FileNotFoundError, match='correct the names'):
        convert_labels(write_list(tmp_path, 'images/a.jpg cat\n'), images, missing='skip')


def test_an_ending_is_found_only_if_it_is_the_only_one(tmp_path: Path, images: Path) -> None:
    write_images(images, ['a.png'])
    with pytest.raises(ValueError, match=r"'a', which could be a.jpg or a.png; write the ending"):
        convert_labels(write_list(tmp_path, 'a cat\n'), images)
    assert rows_of(convert_labels(write_list(tmp_path, 'a.png cat\n'), images).content) == {
        'a.png': ['cat']
    }


def test_repeated_rows(tmp_path: Path, images: Path) -> None:
    result = convert_labels(write_list(tmp_path, 'a cat dog\na.jpg dog cat\n'), images)
    assert rows_of(result.content) == {'a.jpg': ['cat', 'dog']}
    assert 'rows merged that repeat a picture: 1' in result.notes
    with pytest.raises(
        ValueError, match=r"line 1 .* and line 3 .* give the picture 'a.jpg' differ"
    ):
        convert_labels(write_list(tmp_path, 'a cat\nb.PNG dog\na.jpg dog\n'), images)


def test_chosen_classes(tmp_path: Path, images: Path) -> None:
    path = write_list(tmp_path, 'a cat\nb.PNG dog\n')
    names = tmp_path / 'names.txt'
    names.write_text('dog\n\ncow\ncat\n')
    for given in (['dog', 'cow', 'cat'], [str(names)]):
        result = convert_labels(path, images, classes=read_class_names(given))
        assert result.content['metainfo']['classes'] == ['dog', 'cow', 'cat']
        assert [row['gt_label'] for row in result.content['data_list']] == [[2], [0]]
    with pytest.raises(ValueError, match=r"line 2 .* has the class 'dog', expected one of cat;"):
        convert_labels(path, images, classes=['cat'])


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('a Cat\nb.PNG cat\n', "'Cat' and 'cat' differ only by case or spaces"),
        ('a: traffic light, trafficlight\n', 'differ only by case or spaces'),
        ('a.jpg\n', 'none of the 1 pictures has a label'),
        ('a: cat\x1b[31m\n', 'cannot be printed'),
        ('a: \u00e9clair, e\u0301clair\n', 'or by how accents are stored'),
        ('# nothing\n', 'only comments'),
    ],
)
def test_class_names_that_cannot_be_used(
    tmp_path: Path, images: Path, text: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        convert_labels(write_list(tmp_path, text), images)


def test_a_class_that_may_be_misspelt_is_noted(tmp_path: Path) -> None:
    images = write_images(tmp_path / 'images', [f'{i}.jpg' for i in range(13)])
    text = ''.join(f'{i}: dining table, cat 1\n' for i in range(12))
    path = write_list(tmp_path, text + '12: dining tale, cat 2, sofa\n')
    note = (
        "'dining tale' (1 picture) is like 'dining table' (12); if a name is misspelt, correct it"
    )
    assert convert_labels(path, images).notes == (note,)
    known = ['cat 1', 'cat 2', 'dining tale', 'dining table', 'sofa']
    assert convert_labels(path, images, classes=known).notes == ()


def test_accents_of_another_system(tmp_path: Path) -> None:
    images = write_images(tmp_path / 'images', ['\u00e9clair.jpg', 're\u0301sume\u0301.png'])
    path = write_list(tmp_path, 'e\u0301clair.jpg cat\nr\u00e9sum\u00e9 dog\n')
    assert rows_of(convert_labels(path, images).content) == {
        '\u00e9clair.jpg': ['cat'],
        're\u0301sume\u0301.png': ['dog'],
    }


def test_repeated_class_names_are_refused() -> None:
    with pytest.raises(ValueError, match='cat repeated'):
        read_class_names(['cat', 'cat'])
    with pytest.raises(ValueError, match="'cat' and 'CAT'"):
        read_class_names(['cat', 'CAT'])


def test_class_folders(tmp_path: Path) -> None:
    root = write_images(tmp_path / 'set', ['dog/1.jpg', 'cat/2.jpg', 'cat/deep/3.jpg'])
    (root / 'cow').mkdir()
    shutil.copy(root / 'dog' / '1.jpg', root / 'cat' / '1.jpg')
    result = convert_labels(root)
    assert result.content['metainfo']['classes'] == ['cat', 'cow', 'dog']
    assert rows_of(result.content) == {
        'cat/1.jpg': ['cat', 'dog'],
        'cat/2.jpg': ['cat'],
        'cat/deep/3.jpg': ['cat'],
    }
    (root / 'cat' / '1.jpg').write_text('another')
    with pytest.raises(ValueError, match=r"'cat/1.jpg' and 'dog/1.jpg' .* one name but different"):
        convert_labels(root)
    write_images(root, ['4.jpg'])
    with pytest.raises(ValueError, match=r'1 pictures lie in .* itself \(4.jpg\)'):
        convert_labels(root)
    with pytest.raises(ValueError, match='hold the pictures; leave --images out'):
        convert_labels(root, tmp_path)


def test_voc_tree(tmp_path: Path) -> None:
    objects = {'1': [('dog', False), ('cat', True)], '2': [], '3': [('cat', False), ('cat', True)]}
    root = write_voc_tree(tmp_path / 'VOC2007', objects, {'trainval': ['3', '1'], 'test': ['2']})
    content = convert_labels(root).content
    assert content == {
        'metainfo': {'classes': ['cat', 'dog']},
        'data_list': [
            {'img_path': '3.jpg', 'gt_label': [0]},
            {'img_path': '1.jpg', 'gt_label': [1], 'gt_label_difficult': [0]},
        ],
    }
    with pytest.raises(ValueError, match='not in --classes: cat; add them, or leave --classes'):
        convert_labels(root, classes=['dog'])
    options = ReadOptions(image_list='test')
    content = convert_labels(root, classes=['dog'], options=options).content
    assert content['data_list'] == [{'img_path': '2.jpg', 'gt_label': []}]


def test_annotations_of_a_voc_tree_are_parsed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = {name: [('dog', False)] for name in '12'}
    root = write_voc_tree(tmp_path, objects, {'trainval': ['2', '1']})
    parsed = []
    monkeypatch.setattr(
        'mmshufflemix.datasets.voc_files.read_objects',
        lambda path: parsed.append(Path(path).stem) or [('dog', False)],
    )
    for classes in (None, ('dog', 'cat')):
        parsed.clear()
        rows = read_voc_labels(root, classes=classes).rows
        assert [row.name for row in rows] == ['2.jpg', '1.jpg']
        assert parsed == ['2', '1']


def test_coco_file(tmp_path: Path, images: Path) -> None:
    content = {
        'images': [{'id': 5, 'file_name': 'sub/c.jpeg'}, {'id': 6, 'file_name': 'a.jpg'}],
        'categories': [{'id': 7, 'name': 'dog'}, {'id': 3, 'name': 'cat'}],
        'annotations': [{'id': i, 'image_id': 5, 'category_id': c} for i, c in enumerate([7, 7])],
    }
    path = tmp_path / 'instances.json'
    path.write_text(json.dumps(content))
    result = convert_labels(path, images)
    assert result.content['metainfo']['classes'] == ['cat', 'dog']
    assert rows_of(result.content) == {'sub/c.jpeg': ['dog'], 'a.jpg': []}


def test_summary_counts(tmp_path: Path, images: Path) -> None:
    text = describe_conversion(
        convert_labels(write_list(tmp_path, 'a cat dog\nb.PNG dog\nsub/c\n'), images)
    )
    assert text.splitlines()[:4] == [
        '3 images, 2 classes, 1 images without labels',
        'class  images',
        'cat         1',
        'dog         2',
    ]
    assert 'that the labels do not name: 1' in text


@pytest.mark.parametrize(
    ('source', 'options', 'message'),
    [
        ('nope.csv', {}, 'does not exist; give the file or folder of the labels'),
        ('labels.xyz', {}, 'ending of .* choose one of csv, list'),
        ('labels.txt', {'images': None}, 'set --images to their folder'),
        ('labels.txt', {'images': 'nowhere'}, "'nowhere' does not exist or is not a folder"),
        ('labels.txt', {'images': 'empty'}, 'has no picture'),
        ('labels.txt', {'options': ReadOptions(separator=';')}, 'format list have no --separator'),
    ],
)
def test_inputs_that_do_not_fit(
    tmp_path: Path,
    images: Path,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    options: dict,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path('empty').mkdir()
    write_list(tmp_path, 'a cat\n')
    Path('labels.xyz').write_text('a cat\n')
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        convert_labels(source, **{'images': images, **options})
