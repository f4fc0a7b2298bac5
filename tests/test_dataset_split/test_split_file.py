"""Splitting a file of labels."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from mmshufflemix.dataset_split import SplitOptions, describe_split, split_file
from mmshufflemix.datasets import MultiLabelJSON

CLASSES = ['cat', 'dog', 'owl']


def make_rows(count: int = 40) -> list[dict[str, Any]]:
    labels = [[0], [1], [0, 1], []]
    rows = [
        {'img_path': f'p{i // 4}_{i}.jpg', 'gt_label': labels[i % 4], 'extra': {'id': i}}
        for i in range(count)
    ]
    rows[3]['gt_label'] = [2]
    rows[5]['gt_label_difficult'] = [0]
    return rows


def write_set(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / 'all.json'
    metainfo = {'classes': CLASSES, 'author': 'me'}
    path.write_text(json.dumps({'metainfo': metainfo, 'data_list': rows}))
    return path


def read(folder: Path) -> dict[str, list[dict[str, Any]]]:
    return {path.stem: json.loads(path.read_text())['data_list'] for path in folder.glob('*.json')}


def names(rows: list[dict[str, Any]]) -> list[str]:
    return [row['img_path'] for row in rows]


def test_nothing_is_lost_changed_or_twice(tmp_path: Path) -> None:
    rows = make_rows()
    split_file(write_set(tmp_path, rows), tmp_path / 'out', SplitOptions())
    parts = read(tmp_path / 'out')
    assert {name: len(found) for name, found in parts.items()} == {'train': 24, 'val': 8, 'test': 8}
    together = [row for found in parts.values() for row in found]
    assert sorted(together, key=lambda row: row['extra']['id']) == rows
    for found in parts.values():
        assert found == [row for row in rows if row in found]
    content = json.loads((tmp_path / 'out' / 'val.json').read_text())
    assert content['metainfo'] == {'classes': CLASSES, 'author': 'me'}
    dataset = MultiLabelJSON('val.json', data_root=str(tmp_path / 'out'), pipeline=[])
    assert len(dataset) == 8
    assert not list((tmp_path / 'out').glob('*unfinished*'))


def test_without_a_test_part(tmp_path: Path) -> None:
    split_file(write_set(tmp_path, make_rows()), tmp_path / 'out', SplitOptions(val=0.25, test=0))
    assert {name: len(found) for name, found in read(tmp_path / 'out').items()} == {
        'train': 30,
        'val': 10,
    }


def test_folds(tmp_path: Path) -> None:
    rows = make_rows()
    split_file(write_set(tmp_path, rows), tmp_path / 'out', SplitOptions(folds=5))
    parts = read(tmp_path / 'out')
    assert len(parts) == 10
    held_out: list[str] = []
    for fold in range(5):
        train, val = names(parts[f'fold{fold}_train']), names(parts[f'fold{fold}_val'])
        assert not set(train) & set(val)
        assert len(train) == 32
        assert len(val) == 8
        held_out += val
    assert sorted(held_out) == sorted(names(rows))


def test_the_order_of_the_rows_has_no_say(tmp_path: Path) -> None:
    rows = make_rows()
    found = []
    for index, seed in enumerate((0, 0, 1)):
        if index == 1:
            random.Random(0).shuffle(rows)
        options = SplitOptions(seed=seed, group_by='^(p[0-9])')
        split_file(write_set(tmp_path, rows), tmp_path / str(index), options)
        parts = read(tmp_path / str(index))
        found.append({name: sorted(names(part)) for name, part in parts.items()})
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_groups_and_copies_stay_together(tmp_path: Path) -> None:
    rows = make_rows()
    for row in rows:
        (tmp_path / row['img_path']).write_text(row['img_path'])
    for copy in (4, 21, 38):
        (tmp_path / rows[copy]['img_path']).write_text('the same')
    (tmp_path / rows[0]['img_path']).unlink()
    for seed in range(5):
        options = SplitOptions(seed=seed, group_by='^([^_]+)_', images=tmp_path)
        split = split_file(write_set(tmp_path, rows), tmp_path / str(seed), options)
        places = dict(zip(names(rows), split.parts.tolist(), strict=True))
        for patient in range(10):
            assert len({places[n] for n in names(rows) if n.startswith(f'p{patient}_')}) == 1
        assert len({places[rows[copy]['img_path']] for copy in (4, 21, 38)}) == 1
    text = describe_split(split)
    assert 'several copies, kept in one part: 1 (p1_4.jpg, p5_21.jpg, p9_38.jpg)' in text
    assert 'with different labels, please check: 1' in text
    assert '1 of 40 pictures are not in' in text


def test_repeated_paths_stay_together(tmp_path: Path) -> None:
    rows = make_rows()
    rows[7]['img_path'] = rows[8]['img_path'] = rows[9]['img_path'] = 'same.jpg'
    for seed in range(5):
        split = split_file(write_set(tmp_path, rows), tmp_path / str(seed), SplitOptions(seed=seed))
        assert len(set(split.parts[7:10].tolist())) == 1


def test_table_and_rare_classes(tmp_path: Path) -> None:
    split = split_file(write_set(tmp_path, make_rows()), tmp_path / 'out', SplitOptions())
    lines = describe_split(split).splitlines()
    assert lines[0].split() == ['class', 'train', 'val', 'test', 'all']
    for line, total in zip(lines[1:4], (20, 20, 1), strict=True):
        *counts, everything = map(int, line.split()[1:])
        assert sum(counts) == everything == total
    assert lines[3].split() == ['owl', '1', '0', '0', '1']
    assert lines[4].split() == ['images', '24', '8', '8', '40']
    assert lines[5] == "note: 'owl' has 1 images and none in val, test"


@pytest.mark.parametrize('as_name', [False, True])
def test_one_label_a_row(tmp_path: Path, as_name: bool) -> None:
    rows: list[dict[str, Any]] = [
        {'img_path': f'{i}.jpg', 'gt_label': CLASSES[i % 3] if as_name else i % 3}
        for i in range(30)
    ]
    split_file(write_set(tmp_path, rows), tmp_path / 'out', SplitOptions())
    for part, count in (('train', 6), ('val', 2), ('test', 2)):
        found = [row['gt_label'] for row in read(tmp_path / 'out')[part]]
        assert all(found.count(rows[i]['gt_label']) == count for i in range(3))


def test_an_older_split_is_not_replaced_by_chance(tmp_path: Path) -> None:
    path, out = write_set(tmp_path, make_rows()), tmp_path / 'out'
    split_file(path, out, SplitOptions())
    before = read(out)
    for options in (SplitOptions(seed=1), SplitOptions(folds=3)):
        with pytest.raises(FileExistsError, match='holds a split already.*--force'):
            split_file(path, out, options)
    assert read(out) == before
    (out / 'notes.json').write_text('{"data_list": []}')
    split_file(path, out, SplitOptions(folds=2), force=True)
    assert set(read(out)) == {'fold0_train', 'fold0_val', 'fold1_train', 'fold1_val', 'notes'}


def test_a_part_is_not_split_over_itself(tmp_path: Path) -> None:
    path = write_set(tmp_path, make_rows()).rename(tmp_path / 'train.json')
    with pytest.raises(ValueError, match='is the file to split and would be replaced'):
        split_file(path, tmp_path, SplitOptions(), force=True)
    assert path.is_file()


def test_a_failed_write_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = write_set(tmp_path, make_rows()), tmp_path / 'out'
    split_file(path, out, SplitOptions())
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    real, calls = os.fsync, []

    def full_disk(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:
            raise OSError(28, 'No space left on device')
        real(descriptor)

    monkeypatch.setattr(os, 'fsync', full_disk)
    with pytest.raises(OSError, match='No space left'):
        split_file(path, out, SplitOptions(seed=1), force=True)
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        ('[]', 'holds a list, expected a JSON object'),
        ('{"data_list": []}', 'must hold a list `data_list` and a dict `metainfo`'),
        ('{"metainfo": {"classes": ["a"]}, "data_list": []}', 'no rows in its data_list'),
        ('{"metainfo": {"classes": ["a"]}, "data_list": [{}]}', 'row 1 of .* has no img_path'),
        (
            '{"metainfo": {"classes": ["a"]}, "data_list": [{"img_path": "../x", "gt_label": []}]}',
            'leads out of the image folder',
        ),
        (
            '{"metainfo": {"classes": ["a"]}, "data_list": [{"img_path": "x", "gt_label": [1]}]}',
            'gt_label in row 1 of .* with ids out of range',
        ),
        (
            '{"metainfo": {"classes": ["a"]}, "data_list": [{"img_path": "x", "gt_label": [0]}]}',
            '1 images form 1 groups|1 images cannot fill 3 parts',
        ),
    ],
)
def test_files_that_cannot_be_split(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / 'all.json'
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        split_file(path, tmp_path / 'out', SplitOptions())
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'val': 0.0}, 'shares of val and test'),
        ({'val': 0.5, 'test': 0.5}, 'leave images for training'),
        ({'val': float('nan')}, 'got val nan'),
        ({'folds': 1}, 'folds must be at least 2'),
        ({'seed': -1}, 'seed must be at least 0'),
    ],
)
def test_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SplitOptions(**options)
