from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mmshufflemix.label_graph import name_vectors, read_word_vectors, words_of


@pytest.mark.parametrize(
    ('name', 'words'),
    [
        ('person', ['person']),
        ('diningtable', ['dining', 'table']),
        ('pottedplant', ['potted', 'plant']),
        ('tvmonitor', ['tv', 'monitor']),
        ('traffic light', ['traffic', 'light']),
        ('hot_dog', ['hot', 'dog']),
        ('T-shirt', ['t', 'shirt']),
        ('cat/dog', ['cat', 'dog']),
        (' Fire  hydrant ', ['fire', 'hydrant']),
        ('___', []),
    ],
)
def test_names_are_split(name: str, words: list[str]) -> None:
    assert words_of(name) == words


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding='utf-8')
    return str(path)


def test_only_wanted_words_are_read_and_the_first_of_two_counts(tmp_path: Path) -> None:
    path = write(tmp_path / 'v.txt', 'dog 1 2\ncat 3 -4e-1\nfox 5 6\ncat 7 8\n')
    vectors = read_word_vectors(path, {'cat', 'dog', 'unicorn'}, 2)
    assert sorted(vectors) == ['cat', 'dog']
    np.testing.assert_allclose(vectors['cat'], [3, -0.4], rtol=1e-6)


def test_a_header_is_skipped(tmp_path: Path) -> None:
    path = write(tmp_path / 'v.txt', '2 3\ndog 1 2 3\ncat 4 5 6\n')
    assert read_word_vectors(path, {'cat', '2'}, 3)['cat'].tolist() == [4, 5, 6]


@pytest.mark.parametrize('text', ['dog 1 2\ncat 1 2\n', '1 2\ndog 1 2\n'])
def test_another_dimension_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r'has 2 numbers, expected 300; give the file.s own dim'):
        read_word_vectors(write(tmp_path / 'v.txt', text), {'dog'}, 300)


@pytest.mark.parametrize(
    ('line', 'message'),
    [
        ('cat 1', 'line 2 of .* has 1 numbers, expected 2'),
        ('cat 1 2 3', 'line 2 of .* has 3 numbers, expected 2'),
        ('cat 1 two', 'line 2 of .* not a number'),
        ('cat 1 nan', 'line 2 of .* not finite'),
    ],
)
def test_malformed_lines_of_wanted_words_are_refused(
    tmp_path: Path, line: str, message: str
) -> None:
    path = write(tmp_path / 'v.txt', f'dog 1 2\n{line}\n')
    with pytest.raises(ValueError, match=message):
        read_word_vectors(path, {'cat', 'dog'}, 2)
    assert list(read_word_vectors(path, {'dog'}, 2)) == ['dog']


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r'glove\.txt does not exist'):
        read_word_vectors(str(tmp_path / 'glove.txt'), {'cat'}, 2)


def test_words_are_averaged_and_missing_ones_told() -> None:
    vectors = {'hot': np.array([1.0, 3.0]), 'dog': np.array([3.0, 5.0])}
    averages, missing = name_vectors(['hot dog', 'dog', 'tvmonitor', 'hot water'], vectors)
    assert {name: vector.tolist() for name, vector in averages.items()} == {
        'hot dog': [2, 4],
        'dog': [3, 5],
        'hot water': [1, 3],
    }
    assert missing == {'tvmonitor': ['tv', 'monitor'], 'hot water': ['water']}
