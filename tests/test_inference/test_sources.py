"""Which pictures files, folders and patterns stand for."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmshufflemix.inference.sources import find_pictures, picture_fault
from tests.test_inference.models import write_pictures


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ('d/b.jpg', 'd/a.PNG', 'd/notes.txt', 'd/sub/c.webp', 'e/z.jpg', 'x[1].png'):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ('inputs', 'expected'),
    [
        (['d'], ['d/a.PNG', 'd/b.jpg', 'd/sub/c.webp']),
        (['e/z.jpg', 'd/b.jpg', 'e/z.jpg'], ['e/z.jpg', 'd/b.jpg', 'e/z.jpg']),
        (['d/*.jpg', 'e'], ['d/b.jpg', 'e/z.jpg']),
        (['**/*.jpg'], ['d/b.jpg', 'e/z.jpg']),
        (['[de]'], ['d/a.PNG', 'd/b.jpg', 'd/sub/c.webp', 'e/z.jpg']),
        (['x[1].png'], ['x[1].png']),
        (['./e', 'missing.jpg'], ['./e/z.jpg', 'missing.jpg']),
        (['d/*.gif'], []),
        (['https://a.b/c?d=[1].jpg'], ['https://a.b/c?d=[1].jpg']),
    ],
)
def test_found(tree: Path, inputs: list[str], expected: list[str]) -> None:
    assert find_pictures(inputs) == expected


def test_faults(tmp_path: Path) -> None:
    path = Path(write_pictures(tmp_path, 1)[0])
    assert picture_fault(str(path)) is None
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert 'truncated' in str(picture_fault(str(path)))
    assert picture_fault(str(tmp_path)) == 'it is a folder'
    assert picture_fault(str(tmp_path / 'nope')) == 'no such file'
