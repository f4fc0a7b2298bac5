from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mmshufflemix.label_graph import LabelGraph, describe_label_graph, draw_label_graph

GRAPH = LabelGraph(
    ('cat', 'dog', 'fox'),
    np.array([10, 4, 0]),
    np.array([[0, 3, 0], [3, 0, 0], [0, 0, 0]]),
    np.ones((3, 2), dtype=np.float32),
    'a test',
)


def blue(path: Path) -> int:
    """Number of pixels in about the colour of arrows."""
    pixels = np.asarray(Image.open(path).convert('RGB')).astype(int)
    return int((pixels[..., 2] - pixels[..., 0] > 60).sum())


def test_a_picture_with_an_arrow(tmp_path: Path) -> None:
    draw_label_graph(tmp_path / 'new' / 'graph.png', GRAPH, threshold=0.4)
    draw_label_graph(tmp_path / 'none.png', GRAPH, threshold=0.8)
    assert blue(tmp_path / 'new' / 'graph.png') > 100
    assert blue(tmp_path / 'none.png') == 0


def test_vector_formats_hold_the_names(tmp_path: Path) -> None:
    draw_label_graph(tmp_path / 'graph.svg', GRAPH)
    content = (tmp_path / 'graph.svg').read_text()
    assert all(f'{name} (' in content for name in GRAPH.classes)


def test_unknown_formats_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r'cannot write a picture to .*graph\.doc; expected'):
        draw_label_graph(tmp_path / 'graph.doc', GRAPH)
    assert list(tmp_path.iterdir()) == []


def test_the_graph_in_words() -> None:
    assert describe_label_graph(GRAPH, 0.4).splitlines() == [
        'class  images  linked to (P at least 0.4)',
        'cat        10',
        'dog         4  cat 0.75',
        'fox         0',
        '1 edges among 3 classes',
        'never seen: fox',
        'class vectors: a test',
    ]
