"""Images that stay together."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from mmshufflemix.dataset_split.bundles import bundle, content_keys, group_keys


def test_bundles_are_linked_over_others() -> None:
    keys = [['a'], ['b'], ['c', 'a'], [], ['d', 'c'], ['b'], []]
    numbers = bundle(keys)
    assert numbers[0] == numbers[2] == numbers[4]
    assert numbers[1] == numbers[5]
    assert sorted(set(numbers.tolist())) == [0, 1, 2, 3]
    assert bundle([[], []]).tolist() == [0, 1]


def test_groups_of_names() -> None:
    names = ['p1_a.jpg', 'p1_b.jpg', 'p2_a.jpg']
    assert group_keys(names, '^([^_]+)_') == ['p1', 'p1', 'p2']
    assert group_keys(names, 'p[0-9]') == ['p1', 'p1', 'p2']
    assert group_keys(['p1_a', 'x'], '^(.+)_|^(.*)$') == ['p1', 'x']
    with pytest.raises(ValueError, match='does not match 1 of 3 names, such as p2_a.jpg'):
        group_keys(names, 'p1')
    with pytest.raises(ValueError, match='is not a regular expression'):
        group_keys(names, '(')


def test_only_pictures_of_one_size_are_read(tmp_path: Path) -> None:
    for name, content in (('1', b'ab'), ('2', b'ab'), ('3', b'cd'), ('4', b'long')):
        (tmp_path / name).write_bytes(content)
    seen: list[str] = []
    found = content_keys(
        tmp_path, ['1', '2', '3', '4', 'missing'], lambda names: seen.extend(names) or names
    )
    assert seen == ['1', '2', '3']
    assert found['1'] == found['2'] == hashlib.sha256(b'ab').hexdigest()
    assert found['3'] != found['1']
