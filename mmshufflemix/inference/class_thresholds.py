"""One threshold, or one for each class, from what a user gives."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mmshufflemix.json_reading import parse_json
from mmshufflemix.text import some

__all__ = ['Threshold', 'threshold_vector']

Threshold = float | str | os.PathLike | Mapping[str, float]


def threshold_vector(threshold: Threshold, classes: Sequence[str]) -> np.ndarray:
    """Lowest score of a prediction, for each class.

    Args:
        threshold: A number for all classes; or numbers by class name, all classes named; or a JSON
            file that holds such an object, alone or as ``thresholds`` (``tools/tune_thresholds.py``
            writes it). A number may also come as text. Thresholds that were tuned without names are
            named ``'0'``, ``'1'`` and so on, and taken by position.
        classes: The K class names.

    Returns:
        Numbers in 0..1, shape (K,).

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the file is malformed, the classes differ, or a number is out of range.
    """
    if isinstance(threshold, str | os.PathLike):
        threshold = _parse(os.fspath(threshold))
    if not isinstance(threshold, Mapping):
        return np.full(len(classes), _number(threshold, 'the threshold'))
    keys, numbers = list(classes), [str(index) for index in range(len(classes))]
    if set(threshold) != set(keys) and set(threshold) == set(numbers):
        keys = numbers
    missing = [name for name in keys if name not in threshold]
    unknown = sorted(set(threshold) - set(keys))
    if missing or unknown:
        raise ValueError(
            f'thresholds must name the {len(keys)} classes of the model; missing: '
            f'{some(missing) or "none"}; unknown: {some(unknown) or "none"}'
        )
    return np.array([_number(threshold[key], f'the threshold of {key!r}') for key in keys])


def _parse(text: str) -> float | dict[str, Any]:
    try:
        return float(text)
    except ValueError:
        return _read(text)


def _read(path: str) -> dict[str, Any]:
    if not Path(path).is_file():
        raise FileNotFoundError(
            f"'{path}' is neither a number nor a file of thresholds; give a number from "
            '0 to 1 or the JSON file that tools/tune_thresholds.py wrote'
        )
    try:
        content = parse_json(Path(path).read_bytes(), unique_keys=True)
    except ValueError as error:
        raise ValueError(f"thresholds '{path}' are not a JSON file ({error})") from error
    if isinstance(content, dict) and isinstance(content.get('thresholds'), dict):
        content = content['thresholds']
    if not isinstance(content, dict):
        raise ValueError(
            f"thresholds '{path}' must be a JSON object of numbers by class name, got "
            f'a {type(content).__name__}'
        )
    return content


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f'{what} must be a number from 0 to 1, got {value!r}')
    return float(value)
