"""Label graphs from the annotations of a dataset object; pictures are never read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mmpretrain.datasets import VOC

from mmshufflemix.class_names import require_classes
from mmshufflemix.label_graph.embeddings import ppmi_vectors, random_vectors
from mmshufflemix.label_graph.file import LabelGraph, load_label_graph, save_label_graph
from mmshufflemix.label_graph.statistics import count_labels
from mmshufflemix.label_graph.word_vectors import name_vectors, read_word_vectors, words_of
from mmshufflemix.text import some
from mmshufflemix.wrapped_datasets import dataset_parts

__all__ = [
    'build_label_graph',
    'check_same_classes',
    'ensure_label_graph',
    'graph_classes',
    'label_lists',
]


def label_lists(dataset: Any) -> Iterator[list[int]]:
    """Yield the class ids of every image of a dataset, without those that are only difficult.

    Repetition (``RepeatDataset``, ``ClassBalancedDataset``) is undone and the parts of a
    ``ConcatDataset`` follow each other; other wrappers are asked image by image.

    Args:
        dataset: An MMEngine dataset with ``gt_label`` in its data infos, or anything with a length
            and ``get_cat_ids``. Classes in ``gt_label_difficult`` are left out.

    Raises:
        TypeError: If the dataset is of another kind.
        ValueError: If it has one label an image, or none.
    """
    for part in dataset_parts(dataset):
        if not hasattr(part, 'get_data_info') and not hasattr(part, 'get_cat_ids'):
            raise TypeError(
                f'the dataset {type(part).__name__} does not tell the classes of its images; '
                'expected a multi-label dataset of MMPretrain, or one with get_cat_ids(index)'
            )
        for index in range(len(part)):
            yield _labels_of(part, index)


def graph_classes(dataset: Any) -> tuple[str, ...]:
    """Class names of a dataset, which a label graph needs.

    Raises:
        ValueError: If it names none.
    """
    return require_classes(dataset, 'a label graph')


def build_label_graph(
    dataset: Any,
    dim: int = 300,
    embeddings: str | None = None,
    method: str = 'ppmi',
    seed: int = 0,
) -> LabelGraph:
    """Build the label graph of a dataset.

    Args:
        dataset: See :func:`label_lists`; ``metainfo['classes']`` names the classes.
        dim: Length D of the class vectors.
        embeddings: File of word vectors. A class with no word in it gets a seeded draw, which the
            graph's ``source`` tells.
        method: Vectors without a file: ``'ppmi'`` from the labels (see :func:`ppmi_vectors`) or
            ``'random'``, a seeded draw.
        seed: Seed of all draws.

    Raises:
        TypeError: If the dataset does not tell the classes of its images.
        ValueError: If the dataset names no classes, has no label or one an image, an option is
            unknown, or the file of word vectors is malformed or holds no word of any class.
        FileNotFoundError: If the file of word vectors does not exist.
    """
    if method not in ('ppmi', 'random'):
        raise ValueError(f"method must be 'ppmi' or 'random', got {method!r}")
    if dim < 1:
        raise ValueError(f'the class vectors need at least 1 dimension, got {dim}')
    classes = graph_classes(dataset)
    counts, cooccurrence = count_labels(label_lists(dataset), len(classes))
    if not counts.any():
        raise ValueError(
            f'none of the {len(dataset)} images of the dataset has a label; a label graph needs '
            'annotated images'
        )
    if embeddings is not None:
        vectors, source = _from_words(classes, embeddings, dim, seed)
    elif method == 'ppmi':
        vectors = ppmi_vectors(counts, cooccurrence, dim, seed)
        source = "the labels' own co-occurrence (PPMI and SVD)"
    else:
        vectors = random_vectors(len(classes), dim, seed)
        source = f'random draw with seed {seed}'
    return LabelGraph(classes, counts, cooccurrence, vectors, source)


def ensure_label_graph(path: str | Path, dataset: Any, **options: Any) -> tuple[LabelGraph, bool]:
    """Load a label graph, or build and save it if the file is missing.

    Args:
        path: The ``.npz`` file.
        dataset: Where to build it from.
        **options: See :func:`build_label_graph`.

    Returns:
        The graph, and whether it was built.
    """
    if os.path.exists(path):
        return load_label_graph(path), False
    graph = build_label_graph(dataset, **options)
    save_label_graph(path, graph)
    return graph, True


def check_same_classes(
    graph: Sequence[str], dataset: Sequence[str], graph_name: str, dataset_name: str
) -> None:
    """Check that a label graph and a dataset have the same classes in the same order.

    Raises:
        ValueError: Naming the first difference.
    """
    fix = (
        'set metainfo=dict(classes=(...)) of the datasets to the order of the graph, or remove a '
        'graph of another data set, or give label_graph another path, so that a new one is built'
    )
    for index, (ours, theirs) in enumerate(zip(graph, dataset, strict=False)):
        if ours != theirs:
            raise ValueError(
                f'class {index} is {ours!r} in {graph_name} but {theirs!r} in {dataset_name}; {fix}'
            )
    if len(graph) != len(dataset):
        raise ValueError(
            f'{graph_name} has {len(graph)} classes but {dataset_name} has {len(dataset)}; {fix}'
        )


def _labels_of(dataset: Any, index: int) -> list[int]:
    if not hasattr(dataset, 'get_data_info'):
        return [int(label) for label in dataset.get_cat_ids(index)]
    info = dataset.get_data_info(index)
    if np.ndim(info.get('gt_label')) != 1:
        raise ValueError(
            f'the dataset {type(dataset).__name__} has gt_label={info.get("gt_label")!r} for '
            f'image {index}, expected a list of class ids; a label graph needs a data set with '
            'several labels an image'
        )
    labels = {int(label) for label in info['gt_label']}
    # MMPretrain's VOC has no difficult class among the labels, and calls a class difficult also
    # where it has other objects in the image.
    if not isinstance(dataset, VOC):
        labels -= {int(label) for label in info.get('gt_label_difficult') or ()}
    return sorted(labels)


def _from_words(classes: Sequence[str], path: str, dim: int, seed: int) -> tuple[np.ndarray, str]:
    words = {word for name in classes for word in words_of(name)}
    averages, missing = name_vectors(classes, read_word_vectors(path, words, dim))
    if not averages:
        raise ValueError(
            f'{path} has no vector for any of the {len(classes)} classes '
            f'({some(classes, limit=3)}); expected word vectors in the language of the class names'
        )
    vectors = random_vectors(len(classes), dim, seed)
    for index, name in enumerate(classes):
        vectors[index] = averages.get(name, vectors[index])
    source = f'word vectors of {os.path.basename(path)}'
    drawn = [name for name in missing if name not in averages]
    partly = [
        f'{name} (without {", ".join(missing[name])})' for name in missing if name in averages
    ]
    if drawn:
        source += f'; not found, drawn with seed {seed}: {", ".join(drawn)}'
    if partly:
        source += f'; found in part: {", ".join(partly)}'
    return vectors, source
