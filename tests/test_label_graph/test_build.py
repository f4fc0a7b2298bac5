from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mmengine.dataset import ClassBalancedDataset, ConcatDataset, RepeatDataset
from mmpretrain.datasets import VOC, CustomDataset, MultiLabelDataset

import mmshufflemix  # noqa: F401
from mmshufflemix.datasets import VOCMultiLabel
from mmshufflemix.label_graph import (
    build_label_graph,
    check_same_classes,
    ensure_label_graph,
    label_lists,
    load_label_graph,
)
from tests.voc_tree import write_voc_tree

NAMES = ('cat', 'dog', 'tvmonitor', 'fox')
LABELS = [[0, 1], [1], [2, 0], [1, 0]]


def toy(folder: Path, labels: list[list[int]] = LABELS, names: Any = NAMES) -> MultiLabelDataset:
    """A set in MMPretrain's JSON form whose pictures do not exist."""
    items = [{'img_path': f'{i}.jpg', 'gt_label': ids} for i, ids in enumerate(labels)]
    metainfo = {'classes': names} if names else {}
    path = folder / 'toy.json'
    path.write_text(json.dumps({'metainfo': metainfo, 'data_list': items}))
    return MultiLabelDataset(ann_file=str(path), pipeline=[])


def test_counts_need_no_pictures(tmp_path: Path) -> None:
    graph = build_label_graph(toy(tmp_path), dim=6)
    assert graph.classes == NAMES
    assert graph.counts.tolist() == [3, 3, 1, 0]
    assert graph.cooccurrence.tolist() == [[0, 2, 1, 0], [2, 0, 0, 0], [1, 0, 0, 0], [0] * 4]
    assert graph.embeddings.shape == (4, 6)
    assert 'co-occurrence' in graph.source


def test_wrappers_are_seen_through(tmp_path: Path) -> None:
    dataset = toy(tmp_path)
    labels = [sorted(ids) for ids in LABELS]
    for wrapper in (RepeatDataset(dataset, times=3), ClassBalancedDataset(dataset, 0.9)):
        assert len(wrapper) > len(dataset)
        assert list(label_lists(wrapper)) == labels
    assert list(label_lists(ConcatDataset([dataset, dataset]))) == labels + labels


def test_any_object_with_category_ids_will_do() -> None:
    class Bare:
        metainfo = {'classes': NAMES}  # noqa: RUF012

        def __len__(self) -> int:
            return 2

        def get_cat_ids(self, index: int) -> list[int]:
            return LABELS[index]

    assert build_label_graph(Bare()).counts.tolist() == [1, 2, 0, 0]


def test_single_labels_are_refused(tmp_path: Path) -> None:
    (tmp_path / 'list.txt').write_text('a.jpg 0\nb.jpg 1\nc.jpg 1\n')
    dataset = CustomDataset(
        ann_file=str(tmp_path / 'list.txt'), metainfo={'classes': ('cat', 'dog')}, pipeline=[]
    )
    with pytest.raises(
        ValueError, match='CustomDataset has gt_label=0 for image 0, expected a list'
    ):
        build_label_graph(dataset)


def test_a_dataset_that_tells_no_classes_is_refused() -> None:
    class Other:
        metainfo = {'classes': NAMES}  # noqa: RUF012

        def __len__(self) -> int:
            return 2

    with pytest.raises(TypeError, match='Other does not tell the classes of its images'):
        build_label_graph(Other())


def voc(folder: Path) -> Path:
    images = {
        'a': [('cat', False), ('person', True)],
        'b': [('cat', False), ('person', True), ('person', False)],
        'c': [('person', False), ('dog', False)],
        'd': [('dog', True)],
    }
    return write_voc_tree(folder / 'VOC2007', images, {'trainval': list(images)})


@pytest.mark.parametrize('difficult', ['positive', 'negative'])
def test_classes_that_are_only_difficult_do_not_count(tmp_path: Path, difficult: str) -> None:
    dataset = VOCMultiLabel(str(voc(tmp_path)), difficult=difficult, pipeline=[])
    graph = build_label_graph(dataset)
    counts = dict(zip(graph.classes, graph.counts.tolist(), strict=True))
    assert (counts['cat'], counts['person'], counts['dog']) == (2, 2, 1)
    assert graph.cooccurrence.sum() == 4


def test_a_class_with_difficult_and_other_objects_counts_in_mmpretrains_voc(
    tmp_path: Path,
) -> None:
    graph = build_label_graph(VOC(str(voc(tmp_path)), pipeline=[]))
    counts = dict(zip(graph.classes, graph.counts.tolist(), strict=True))
    assert (counts['cat'], counts['person'], counts['dog']) == (2, 2, 1)


def test_real_voc2007_equals_the_released_graph(shared_data: Path, tmp_path: Path) -> None:
    with tarfile.open(shared_data / 'voc2007_annotations.tar.xz') as archive:
        archive.extractall(tmp_path, filter='data')
    dataset = VOCMultiLabel(str(tmp_path / 'VOCdevkit' / 'VOC2007'), pipeline=[])
    graph = build_label_graph(dataset)
    released = load_label_graph(shared_data / 'graph_voc.npz')
    assert len(dataset) == 5011
    assert graph.classes == released.classes
    np.testing.assert_array_equal(graph.counts, released.counts)
    np.testing.assert_array_equal(graph.cooccurrence, released.cooccurrence)
    assert (graph.counts[0], graph.counts[14]) == (238, 2008)


def test_word_vectors_with_a_draw_for_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / 'glove.txt').write_text('cat 1 2\ndog 3 4\nmonitor 5 6\n')
    graph = build_label_graph(toy(tmp_path), dim=2, embeddings=str(tmp_path / 'glove.txt'), seed=7)
    assert graph.embeddings[:3].tolist() == [[1, 2], [3, 4], [5, 6]]
    assert np.isfinite(graph.embeddings).all()
    assert graph.source == (
        'word vectors of glove.txt; not found, drawn with seed 7: fox; '
        'found in part: tvmonitor (without tv)'
    )
    again = build_label_graph(toy(tmp_path), dim=2, embeddings=str(tmp_path / 'glove.txt'), seed=7)
    np.testing.assert_array_equal(again.embeddings, graph.embeddings)


def test_a_random_draw_says_so(tmp_path: Path) -> None:
    assert build_label_graph(toy(tmp_path), method='random', seed=3).source == (
        'random draw with seed 3'
    )


def test_bad_input_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="method must be 'ppmi' or 'random', got 'glove'"):
        build_label_graph(toy(tmp_path), method='glove')
    with pytest.raises(ValueError, match='at least 1 dimension, got 0'):
        build_label_graph(toy(tmp_path), dim=0)
    with pytest.raises(ValueError, match='MultiLabelDataset names no classes'):
        build_label_graph(toy(tmp_path, names=None))
    with pytest.raises(ValueError, match='none of the 2 images of the dataset has a label'):
        build_label_graph(toy(tmp_path, labels=[[], []]))
    (tmp_path / 'glove.txt').write_text('chat 1 2\n')
    with pytest.raises(ValueError, match=r'no vector for any of the 4 classes \(cat, dog, tv'):
        build_label_graph(toy(tmp_path), dim=2, embeddings=str(tmp_path / 'glove.txt'))


def test_a_graph_is_built_once(tmp_path: Path) -> None:
    path = tmp_path / 'graphs' / 'toy.npz'
    graph, built = ensure_label_graph(path, toy(tmp_path), dim=4)
    assert built
    other = toy(tmp_path, labels=[[0]])
    loaded, built = ensure_label_graph(path, other, dim=4)
    assert not built
    np.testing.assert_array_equal(loaded.counts, graph.counts)
    np.testing.assert_array_equal(loaded.embeddings, graph.embeddings)
    assert loaded.source == graph.source


def test_class_names_are_compared() -> None:
    check_same_classes(('a', 'b'), ['a', 'b'], 'G', 'D')
    with pytest.raises(ValueError, match="class 1 is 'b' in G but 'c' in D; set metainfo"):
        check_same_classes(('a', 'b'), ('a', 'c'), 'G', 'D')
    with pytest.raises(ValueError, match='G has 2 classes but D has 3'):
        check_same_classes(('a', 'b'), ('a', 'b', 'c'), 'G', 'D')
