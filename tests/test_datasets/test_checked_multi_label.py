from __future__ import annotations

import pytest

from mmshufflemix.datasets import checked_multi_label
from mmshufflemix.datasets.checked_multi_label import read_json, require_files
from mmshufflemix.datasets.voc_multi_label import VOCMultiLabel
from tests.voc_tree import write_voc_tree

LOAD = [{'type': 'LoadImageFromFile'}]


@pytest.fixture
def root(tmp_path):
    images = {name: [('cat', False)] for name in ('a', 'b', 'c')}
    return write_voc_tree(tmp_path, images, {'train': list(images)})


def test_missing_pictures_are_counted_when_a_pipeline_will_read_them(root):
    (root / 'JPEGImages' / 'b.jpg').unlink()
    with pytest.raises(FileNotFoundError, match=r'1 of 3 images are missing: .*b.jpg; they are'):
        VOCMultiLabel(str(root), split='train', pipeline=LOAD)
    assert len(VOCMultiLabel(str(root), split='train')) == 3


def test_missing_pictures_can_be_skipped(root, monkeypatch):
    (root / 'JPEGImages' / 'b.jpg').unlink()
    said = []
    monkeypatch.setattr(checked_multi_label, 'print_log', lambda text, **_: said.append(text))
    dataset = VOCMultiLabel(str(root), split='train', pipeline=LOAD, missing_images='skip')
    names = [dataset.get_data_info(i)['img_path'].rpartition('/')[2] for i in range(len(dataset))]
    assert names == ['a.jpg', 'c.jpg']
    (line,) = said
    assert line.startswith('1 of 3 images of ')
    assert line.endswith('JPEGImages/b.jpg')


def test_not_all_pictures_can_be_skipped(root):
    (root / 'JPEGImages').rename(root / 'elsewhere')
    with pytest.raises(FileNotFoundError, match='3 of 3 images are missing'):
        VOCMultiLabel(str(root), split='train', pipeline=LOAD, missing_images='skip')


def test_unknown_rule_for_missing_pictures(root):
    with pytest.raises(ValueError, match="missing_images must be 'error' or 'skip', got 'ignore'"):
        VOCMultiLabel(str(root), split='train', missing_images='ignore')


def test_no_picture_folder(root):
    (root / 'JPEGImages').rename(root / 'elsewhere')
    with pytest.raises(FileNotFoundError, match='3 of 3 images are missing'):
        VOCMultiLabel(str(root), split='train', pipeline=LOAD)


@pytest.mark.parametrize('test_mode', [False, True])
@pytest.mark.parametrize('keep', [0, 20, 0.5])
def test_broken_picture_is_named(root, keep, test_mode):
    path = root / 'JPEGImages' / 'b.jpg'
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep) if isinstance(keep, float) else keep])
    dataset = VOCMultiLabel(str(root), split='train', pipeline=LOAD, test_mode=test_mode)
    assert dataset[0]['img'].shape == (32, 40, 3)
    with pytest.raises(ValueError, match=r'cannot decode the image .*b.jpg \(.*\); replace it by'):
        dataset[1]


def test_other_errors_of_the_pipeline_stay_as_they_are(root):
    def fail(results):
        raise KeyError('not about pictures')

    dataset = VOCMultiLabel(str(root), split='train', pipeline=[fail])
    with pytest.raises(KeyError, match='not about pictures'):
        dataset[0]


def test_class_names_are_checked_before_anything_is_read(tmp_path):
    with pytest.raises(ValueError, match='got 2 with cat repeated'):
        VOCMultiLabel(str(tmp_path), metainfo={'classes': ('cat', 'cat')}, lazy_init=True)


def test_class_names_from_a_file(root, tmp_path):
    (tmp_path / 'names.txt').write_text('dog\ncat\n')
    dataset = VOCMultiLabel(
        str(root), split='train', metainfo={'classes': str(tmp_path / 'names.txt')}
    )
    assert dataset.metainfo['classes'] == ('dog', 'cat')
    assert dataset.get_cat_ids(0) == [1]


def test_require_files_in_several_folders(tmp_path):
    for name in ('a/1', 'b/1', 'b/2'):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    require_files([str(tmp_path / name) for name in ('a/1', 'b/2')], 'files')
    names = ('a/1', 'a/2', 'c/1', 'b/3', 'b/4')
    with pytest.raises(FileNotFoundError, match=r'4 of 5 files are missing: .*a/2, .*c/1, .*b/3, '):
        require_files([str(tmp_path / name) for name in names], 'files')


def test_require_files_in_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'here').touch()
    require_files(['here'], 'files')
    with pytest.raises(FileNotFoundError, match='1 of 1 files are missing: there'):
        require_files(['there'], 'files')


@pytest.mark.parametrize(
    ('text', 'message'), [('{', 'is not a JSON file'), ('[1]', 'holds a list, expected a JSON obj')]
)
def test_bad_json(tmp_path, text, message):
    (tmp_path / 'a.json').write_text(text)
    with pytest.raises(ValueError, match=message):
        read_json(str(tmp_path / 'a.json'))


def test_no_json(tmp_path):
    with pytest.raises(FileNotFoundError, match=r'annotation file .*a.json does not exist; set'):
        read_json(str(tmp_path / 'a.json'))
