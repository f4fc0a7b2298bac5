"""Save the predictions of a whole test set, in its order."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from mmengine import dist
from mmengine.evaluator import BaseMetric

from mmshufflemix.files import write_bytes

__all__ = ['DumpPredictions', 'check_results_file', 'to_plain', 'write_results']

_SUFFIXES = ('.json', '.pkl', '.pickle')


def check_results_file(path: str) -> None:
    """Check the ending of a file for results.

    Raises:
        ValueError: If it is neither JSON nor a pickle.
    """
    if not path.endswith(_SUFFIXES):
        raise ValueError(
            f"results can be written as {', '.join(_SUFFIXES)}, got '{path}'; .json is the safe "
            'choice, since loading a pickle can run code.'
        )


def write_results(path: str, results: Any) -> None:
    """Write results as JSON, or as a pickle that holds the values as they are."""
    check_results_file(path)
    if path.endswith('.json'):
        content = _json_text(to_plain(results)).encode()
    else:
        content = pickle.dumps(results)
    write_bytes(path, content)


def _json_text(plain: Any) -> str:
    """Write a dict indented, a list as one line for each of its records."""
    if not isinstance(plain, list):
        return json.dumps(plain, indent=1) + '\n'
    return '[\n' + ',\n'.join(json.dumps(record) for record in plain) + '\n]\n'


def to_plain(value: Any) -> Any:
    """Turn tensors, arrays, tuples and paths into what JSON knows, leaving the numbers alone."""
    if isinstance(value, torch.Tensor | np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [to_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


class DumpPredictions(BaseMetric):
    """Collects every prediction and writes one record per image, in the order of the data set.

    A record holds what the model returns and what the pipeline packs: ``sample_idx``, ``img_path``,
    ``pred_label``, ``pred_score``, ``gt_label`` and so on. Images that several processes saw twice
    appear once.

    Args:
        path: ``.json``, or ``.pkl`` with MMPretrain's own structure (a list of dicts of tensors).

    Raises:
        ValueError: If the ending is neither, or if the pipeline drops ``sample_idx``.
    """

    def __init__(self, path: str) -> None:
        super().__init__(collect_device='cpu')
        check_results_file(path)
        self.path = path
        self.results: list[dict[str, Any]] = []

    def process(self, data_batch: Any, data_samples: Sequence[dict[str, Any]]) -> None:
        """Keep the records of one batch."""
        for sample in data_samples:
            if 'sample_idx' not in sample:
                raise ValueError(
                    "predictions cannot be put in order without 'sample_idx'; add it to the "
                    'meta_keys of PackInputs.'
                )
            first = [key for key in ('sample_idx', 'img_path') if key in sample]
            keys = first + sorted(set(sample) - set(first))
            self.results.append({key: _on_cpu(sample[key]) for key in keys})

    def evaluate(self, size: int) -> dict[str, Any]:
        """Gather the records of all processes and write them on the first."""
        parts = dist.all_gather_object(self.results)
        records = {record['sample_idx']: record for part in parts for record in part}
        self.results.clear()
        if dist.is_main_process():
            write_results(self.path, [records[index] for index in sorted(records)])
            print(f'{len(records)} predictions written to {Path(self.path).resolve()}')
        return {}

    def compute_metrics(self, results: list[Any]) -> dict[str, Any]:
        """Not used: :meth:`evaluate` does everything."""
        return {}


def _on_cpu(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.cpu()
    if isinstance(value, dict):
        return {key: _on_cpu(item) for key, item in value.items()}
    return value
