from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmshufflemix.label_graph import (
    LabelGraph,
    load_label_graph,
    make_label_graph,
    save_label_graph,
)


def fields(**changes: Any) -> dict[str, Any]:
    arrays = {
        'classes': np.array(['cat', 'dog']),
        'counts': np.array([4, 3]),
        'cooccurrence': np.array([[0, 2], [2, 0]]),
        'embeddings': np.ones((2, 5)),
    }
    return {**arrays, **changes}


def test_round_trip(tmp_path: Path) -> None:
    graph = make_label_graph(fields(source='drawn'))
    path = tmp_path / 'new' / 'graph.npz'
    save_label_graph(path, graph)
    loaded = load_label_graph(path)
    assert (loaded.classes, loaded.source) == (('cat', 'dog'), 'drawn')
    for name in ('counts', 'cooccurrence', 'embeddings'):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(graph, name))
    assert loaded.embeddings.dtype == np.float32
    assert [item.name for item in path.parent.iterdir()] == ['graph.npz']
    with np.load(path, allow_pickle=False) as content:
        assert content['classes'].dtype.kind == 'U'


def test_the_source_may_be_absent() -> None:
    assert make_label_graph(fields()).source == 'unknown'


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({'classes': np.array(['cat', 'cat'])}, 'must be distinct, got cat'),
        ({'classes': np.array([b'cat', b'dog'])}, 'must be a list of names'),
        ({'classes': np.array([['cat', 'dog']])}, 'must be a list of names'),
        ({'classes': np.array([], dtype=str)}, 'must be a list of names'),
        ({'counts': np.array([4, 3, 2])}, r'counts of .* must be 2 numbers.*shape \(3,\)'),
        ({'counts': np.array(['4', '3'])}, 'counts of .* must be 2 numbers'),
        ({'counts': np.array([4, -3])}, 'must not be negative'),
        ({'cooccurrence': np.zeros((2, 3))}, 'cooccurrence of .* must be 2 x 2 numbers'),
        ({'cooccurrence': np.array([[0, 1], [2, 0]])}, 'must be symmetric'),
        ({'cooccurrence': np.array([[4, 2], [2, 3]])}, 'zero diagonal'),
        ({'cooccurrence': np.array([[0, 4], [4, 0]])}, 'must not exceed counts'),
        ({'embeddings': np.ones((3, 5))}, 'embeddings of .* must be 2 x D numbers'),
        ({'embeddings': np.ones((2, 0))}, 'embeddings of .* must be 2 x D numbers'),
        ({'embeddings': np.full((2, 5), np.nan)}, 'embeddings of .* must be finite'),
    ],
)
def test_impossible_arrays_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_label_graph(fields(**changes))


@pytest.mark.parametrize('key', ['classes', 'counts', 'cooccurrence', 'embeddings'])
def test_missing_arrays_are_named(tmp_path: Path, key: str) -> None:
    arrays = fields()
    del arrays[key]
    np.savez(tmp_path / 'graph.npz', **arrays)
    with pytest.raises(ValueError, match=f'graph.npz has no {key}; expected the arrays'):
        load_label_graph(tmp_path / 'graph.npz')


class Touch:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize('key', ['classes', 'embeddings', 'source'])
def test_object_arrays_are_refused_without_running_them(tmp_path: Path, key: str) -> None:
    arrays = fields(**{key: np.array([Touch(tmp_path / 'ran'), None], dtype=object)})
    np.savez(tmp_path / 'graph.npz', **arrays)
    with pytest.raises(
        ValueError, match=r'graph.npz is not a label graph .*expected the'
    ) as caught:
        load_label_graph(tmp_path / 'graph.npz')
    assert 'allow_pickle=True' not in str(caught.value)
    assert 'unsafe' not in str(caught.value)
    assert not (tmp_path / 'ran').exists()


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / 'graph.npz'
    whole = tmp_path / 'whole.npz'
    save_label_graph(whole, make_label_graph(fields()))
    single = tmp_path / 'single.npy'
    np.save(single, np.ones(3))
    contents = [
        b'',
        b'text',
        pickle.dumps(Touch(tmp_path / 'ran')),
        whole.read_bytes()[:200],
        single.read_bytes(),
    ]
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(ValueError, match='is not a label graph'):
            load_label_graph(path)
    assert not (tmp_path / 'ran').exists()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match='graph.npz does not exist; make it with'):
        load_label_graph(tmp_path / 'graph.npz')


def test_names_with_unicode_survive(tmp_path: Path) -> None:
    arrays = make_label_graph(fields())
    names = ('кот', 'Jagdhund 🐕')
    graph = LabelGraph(names, arrays.counts, arrays.cooccurrence, arrays.embeddings)
    save_label_graph(tmp_path / 'graph.npz', graph)
    assert load_label_graph(tmp_path / 'graph.npz').classes == names
