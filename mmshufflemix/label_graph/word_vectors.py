"""Class vectors from a file of word vectors such as GloVe's."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np

__all__ = ['name_vectors', 'read_word_vectors', 'words_of']

# Names of VOC, COCO and their relatives written as one word that word lists do not have.
_COMPOUNDS = {
    'diningtable': 'dining table',
    'pottedplant': 'potted plant',
    'tvmonitor': 'tv monitor',
    'trafficlight': 'traffic light',
    'firehydrant': 'fire hydrant',
    'stopsign': 'stop sign',
    'parkingmeter': 'parking meter',
    'hotdog': 'hot dog',
    'teddybear': 'teddy bear',
    'cellphone': 'cell phone',
    'hairdrier': 'hair drier',
}


def words_of(name: str) -> list[str]:
    """Split a class name into lower-case words at spaces, underscores, hyphens and slashes.

    A few well-known compounds such as ``diningtable`` are split too.
    """
    words = re.split(r'[\s_\-/]+', name.lower().strip())
    return [part for word in words if word for part in _COMPOUNDS.get(word, word).split()]


def read_word_vectors(path: str, words: Collection[str], dim: int) -> dict[str, np.ndarray]:
    """Read the vectors of some words from a text file, line by line.

    Each line is a word and ``dim`` numbers, separated by spaces; a first line with two integers
    (word2vec's header) is skipped. Other words are passed over without being read in.

    Args:
        path: Text file, for example ``glove.6B.300d.txt``.
        words: The words wanted; those that the file lacks are not in the result.
        dim: Length of the vectors.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the vectors have another length, or a wanted line is malformed.
    """
    if not os.path.isfile(path):
        raise FileNotFoundError(
            f'the word vector file {path} does not exist; download one such as glove.6B.300d.txt, '
            'or leave it out to take vectors from the labels themselves'
        )
    wanted = set(words)
    found: dict[str, np.ndarray] = {}
    with open(path, encoding='utf-8', errors='replace') as file:
        for number, line in enumerate(file, start=1):
            fields = line.split() if number <= 2 else []
            if number == 1 and len(fields) == 2 and all(field.isdecimal() for field in fields):
                continue
            if fields and not found and len(fields) - 1 != dim:
                raise ValueError(
                    f'line {number} of {path} has {len(fields) - 1} numbers, expected {dim}; give '
                    "the file's own dimension (--dim of the tool, embed_dim of the head)"
                )
            word = line.partition(' ')[0]
            if word in wanted and word not in found:
                found[word] = _parse(line, dim, f'line {number} of {path}')
    return found


def name_vectors(
    names: Sequence[str], vectors: Mapping[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], dict[str, list[str]]]:
    """Average the vectors of the words of each name.

    Args:
        names: Class names.
        vectors: Vectors by word.

    Returns:
        The vectors by name, from the words that were found, and for each name the words that were
        not. A name with no word found is only in the second.
    """
    averages, missing = {}, {}
    for name in names:
        words = words_of(name)
        known = [vectors[word] for word in words if word in vectors]
        if known:
            averages[name] = np.mean(known, axis=0)
        if len(known) < len(words) or not words:
            missing[name] = [word for word in words if word not in vectors]
    return averages, missing


def _parse(line: str, dim: int, place: str) -> np.ndarray:
    fields = line.split()[1:]
    if len(fields) != dim:
        raise ValueError(
            f'{place} has {len(fields)} numbers, expected {dim} as in the lines before; the file '
            'is damaged, download it again'
        )
    try:
        vector = np.array([float(field) for field in fields], dtype=np.float32)
    except ValueError as error:
        raise ValueError(f'{place} holds something that is not a number ({error})') from error
    if not np.isfinite(vector).all():
        raise ValueError(f'{place} holds a number that is not finite, expected finite numbers')
    return vector
