"""The label graph and its ``.npz`` file, which is never read as pickle."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mmshufflemix.files import unpacked_size, write_bytes
from mmshufflemix.text import repeated, some

__all__ = ['LabelGraph', 'load_label_graph', 'make_label_graph', 'save_label_graph']

_MOST_BYTES = 2**30
"""Of all arrays together, unpacked: far above any label graph, far below a machine's memory."""

_REQUIRED = ('classes', 'counts', 'cooccurrence', 'embeddings')


@dataclass(frozen=True)
class LabelGraph:
    """Label statistics and class vectors of a data set; see :func:`make_label_graph`.

    Attributes:
        classes: The K class names, in the order of the class ids.
        counts: Images of each class (K,).
        cooccurrence: Images of each pair of classes (K, K), symmetric, diagonal zero.
        embeddings: One vector for each class (K, D), float32.
        source: Where the vectors come from, in words.
    """

    classes: tuple[str, ...]
    counts: np.ndarray
    cooccurrence: np.ndarray
    embeddings: np.ndarray
    source: str = 'unknown'


def make_label_graph(fields: Mapping[str, Any], name: str = 'the label graph') -> LabelGraph:
    """Make a label graph of arrays after checking all of them.

    Args:
        fields: ``classes``, ``counts``, ``cooccurrence``, ``embeddings`` and, if known, ``source``.
        name: What error messages call it.

    Raises:
        ValueError: If a field is missing, has a wrong type or shape, or holds impossible values.
    """
    missing = [key for key in _REQUIRED if key not in fields]
    if missing:
        raise ValueError(
            f'{name} has no {", ".join(missing)}; expected the arrays {", ".join(_REQUIRED)}, as '
            'tools/label_graph.py writes them'
        )
    classes = np.asarray(fields['classes'])
    if classes.dtype.kind != 'U' or classes.ndim != 1 or not classes.size:
        raise ValueError(
            f'classes of {name} must be a list of names, got an array of type {classes.dtype} and '
            f'shape {classes.shape}'
        )
    names = tuple(classes.tolist())
    twice = repeated(names)
    if twice:
        raise ValueError(f'classes of {name} must be distinct, got {some(twice)} repeatedly')
    num_classes = len(names)
    counts = _numbers(fields, 'counts', (num_classes,), name)
    cooccurrence = _numbers(fields, 'cooccurrence', (num_classes, num_classes), name)
    embeddings = _numbers(fields, 'embeddings', (num_classes, None), name)
    _check_counts(counts, cooccurrence, name)
    source = str(fields.get('source', 'unknown'))
    with np.errstate(over='ignore'):
        vectors = embeddings.astype(np.float32)
    if not np.isfinite(vectors).all():
        raise ValueError(f'embeddings of {name} must fit into 32-bit floating point numbers')
    return LabelGraph(names, counts, cooccurrence, vectors, source)


def save_label_graph(path: str | Path, graph: LabelGraph) -> None:
    """Write a label graph, whole or not at all; the folder is made if missing."""
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        classes=np.array(graph.classes, dtype=np.str_),
        counts=graph.counts,
        cooccurrence=graph.cooccurrence,
        embeddings=graph.embeddings,
        source=np.array(graph.source, dtype=np.str_),
    )
    write_bytes(path, buffer.getvalue())


def load_label_graph(path: str | os.PathLike) -> LabelGraph:
    """Read and check a label graph; nothing in the file is executed.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the file is not a label graph.
    """
    if not os.path.isfile(path):
        raise FileNotFoundError(
            f'the label graph {path} does not exist; make it with tools/label_graph.py'
        )
    try:
        size = unpacked_size(path)
        if size > _MOST_BYTES:
            raise ValueError(f'it unpacks to {size / 2**30:.1f} GiB')
        content = np.load(path, allow_pickle=False)
        if not isinstance(content, np.lib.npyio.NpzFile):
            raise ValueError('it holds a single array')
        with content:
            fields = {key: content[key] for key in content.files if key in (*_REQUIRED, 'source')}
    except Exception as error:  # a damaged file can fail in any way
        # NumPy's second sentence tells how to run the code in a pickle.
        reason = str(error).split('. ')[0]
        raise ValueError(
            f'{path} is not a label graph ({reason}); expected the .npz of plain arrays that '
            'tools/label_graph.py writes'
        ) from error
    return make_label_graph(fields, str(path))


def _numbers(
    fields: Mapping[str, Any], key: str, shape: tuple[int | None, ...], name: str
) -> np.ndarray:
    value = np.asarray(fields[key])
    fits = value.ndim == len(shape) and all(
        size >= 1 if expected is None else size == expected
        for size, expected in zip(value.shape, shape, strict=True)
    )
    if value.dtype.kind not in 'iuf' or not fits:
        expected = ' x '.join('D' if size is None else str(size) for size in shape)
        raise ValueError(
            f'{key} of {name} must be {expected} numbers to fit its {shape[0]} classes, got an '
            f'array of type {value.dtype} and shape {value.shape}'
        )
    if not np.isfinite(value).all():
        raise ValueError(f'{key} of {name} must be finite, got NaN or infinity')
    return value


def _check_counts(counts: np.ndarray, cooccurrence: np.ndarray, name: str) -> None:
    if (counts < 0).any() or (cooccurrence < 0).any():
        raise ValueError(f'counts and cooccurrence of {name} must not be negative')
    if cooccurrence.diagonal().any() or (cooccurrence != cooccurrence.T).any():
        raise ValueError(f'cooccurrence of {name} must be symmetric with a zero diagonal')
    if (cooccurrence > counts[:, None]).any():
        raise ValueError(
            f'cooccurrence of {name} must not exceed counts, since a pair is in no more images '
            'than each of its classes'
        )
