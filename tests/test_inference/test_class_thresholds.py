"""Thresholds in all the forms that a user may give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mmshufflemix.inference import threshold_vector

CLASSES = ['cat', 'dog', 'owl']
BY_NAME = {'owl': 0.3, 'cat': 0.1, 'dog': 0.2}


@pytest.mark.parametrize('given', [0.25, '0.25', '.25'])
def test_one_for_all(given: Any) -> None:
    assert threshold_vector(given, CLASSES).tolist() == [0.25] * 3


def test_by_name_and_from_files(tmp_path: Path) -> None:
    file = tmp_path / 't.json'
    assert threshold_vector(BY_NAME, CLASSES).tolist() == [0.1, 0.2, 0.3]
    for content in (BY_NAME, {'thresholds': BY_NAME, 'rule': 'any'}):
        file.write_text(json.dumps(content))
        assert threshold_vector(str(file), CLASSES).tolist() == [0.1, 0.2, 0.3]
        assert threshold_vector(file, CLASSES).tolist() == [0.1, 0.2, 0.3]


def test_by_number() -> None:
    by_number = {'0': 0.1, '2': 0.3, '1': 0.2}
    assert threshold_vector(by_number, CLASSES).tolist() == [0.1, 0.2, 0.3]
    # Where classes are called by numbers, these are names.
    assert threshold_vector(by_number, ['2', '1', '0']).tolist() == [0.3, 0.2, 0.1]


@pytest.mark.parametrize(
    ('given', 'message'),
    [
        (1.5, 'the threshold must be a number from 0 to 1, got 1.5'),
        ('nan', 'from 0 to 1, got nan'),
        (True, 'from 0 to 1, got True'),
        ({**BY_NAME, 'owl': '0.3'}, "the threshold of 'owl' must be a number from 0 to 1"),
        ({'cat': 0.1, 'dog': 0.2, 'elk': 0.3}, 'missing: owl; unknown: elk'),
        ({'cat': 0.1}, 'missing: dog, owl; unknown: none'),
    ],
)
def test_mistakes(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        threshold_vector(given, CLASSES)


def test_mistakes_in_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="'o,5' is neither a number nor a file"):
        threshold_vector('o,5', CLASSES)
    file = tmp_path / 't.json'
    for content, message in (('{', 'are not a JSON file'), ('[0.5]', 'got a list')):
        file.write_text(content)
        with pytest.raises(ValueError, match=message):
            threshold_vector(file, CLASSES)
