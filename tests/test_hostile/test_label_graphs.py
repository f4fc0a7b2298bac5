"""Label graphs of strangers."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmshufflemix.label_graph import load_label_graph

GOOD = {
    'classes': np.array(['a', 'b']),
    'counts': np.array([3, 2]),
    'cooccurrence': np.array([[0, 1], [1, 0]]),
    'embeddings': np.eye(2),
}


class Program:
    """Fails the test when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return pytest.fail, ('a program in a label graph ran',)


@pytest.mark.parametrize(
    ('field', 'value', 'message'),
    [
        ('classes', np.array([Program(), 'b'], object), 'is not a label graph'),
        ('source', np.array([Program()], object), 'is not a label graph'),
        ('classes', np.array([b'a', b'b']), 'must be a list of names'),
        ('classes', np.array(['a', 'a']), 'must be distinct, got a repeatedly'),
        ('counts', np.array([np.nan, 1]), 'must be finite'),
        ('counts', np.array(['3', '2']), 'must be 2 numbers'),
        ('counts', np.array([3j, 2]), 'must be 2 numbers'),
        ('counts', np.array([3, 2], 'M8[s]'), 'must be 2 numbers'),
        ('cooccurrence', np.array([[0, -1], [-1, 0]]), 'must not be negative'),
        ('embeddings', np.full((2, 3), 1e300), 'must fit into 32-bit'),
    ],
)
def test_arrays_that_are_refused(
    field: str, value: np.ndarray, message: str, tmp_path: Path
) -> None:
    np.savez(tmp_path / 'graph.npz', **{**GOOD, field: value})
    with pytest.raises(ValueError, match=message):
        load_label_graph(tmp_path / 'graph.npz')


def header(shape: tuple[int, ...]) -> bytes:
    """Write the header of an array of this shape, and one number."""
    buffer = io.BytesIO()
    content = {'descr': '<f8', 'fortran_order': False, 'shape': shape}
    np.lib.format.write_array_header_1_0(buffer, content)
    return buffer.getvalue() + bytes(8)


@pytest.mark.parametrize(
    'content',
    [
        b'',
        b'\x93NUMPY',
        b'\x93NUMPY\x01\x00\x10\x00' + b'(' * 16,
        b'\x93NUMPY\x02\x00\xff\xff\xff\xff' + b'(' * 16,
        header((-1,)),
        header((10**10,)),
        header((10**15,)),
        header((10**30,)),
    ],
)
def test_arrays_that_are_torn(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / 'graph.npz'
    np.savez(path, **{name: value for name, value in GOOD.items() if name != 'counts'})
    with zipfile.ZipFile(path, 'a') as archive:
        archive.writestr('counts.npy', content)
    with pytest.raises(ValueError, match=r'graph\.npz'):
        load_label_graph(path)


def test_what_is_packed_a_thousandfold_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('mmshufflemix.label_graph.file._MOST_BYTES', 2**26)
    path = tmp_path / 'graph.npz'
    np.savez(path, **GOOD)
    with zipfile.ZipFile(path, 'a', zipfile.ZIP_DEFLATED) as archive:
        archive.writestr('source.npy', bytes(2**27))
    assert path.stat().st_size < 2**18
    with pytest.raises(ValueError, match=r'unpacks to 0\.1 GiB'):
        load_label_graph(path)


def test_many_classes_take_no_square_of_time(tmp_path: Path) -> None:
    """A list of a hundred thousand names was once compared pair by pair."""
    many = {**GOOD, 'classes': np.arange(100_000).astype(str)}
    np.savez(tmp_path / 'graph.npz', **many)
    with pytest.raises(ValueError, match='counts of .* must be 100000 numbers'):
        load_label_graph(tmp_path / 'graph.npz')
