"""Export a trained model, compare it with the original and write it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mmshufflemix
from mmshufflemix.class_names import names_or_numbers
from mmshufflemix.export.graph import check_not_random, export_graph, operators
from mmshufflemix.export.metadata import make_metadata, write_metadata
from mmshufflemix.export.network import ScoreNetwork, mean_and_std
from mmshufflemix.export.packages import require_packages
from mmshufflemix.export.parity import model_scores, onnx_scores, score_difference
from mmshufflemix.export.pipeline import loads_bgr, pipeline_size, resize_rule
from mmshufflemix.files import check_writable, write_bytes
from mmshufflemix.inference.build import build_model, test_dataset
from mmshufflemix.inference.class_thresholds import Threshold, threshold_vector
from mmshufflemix.mixer import detach

__all__ = ['BATCHES', 'Exported', 'export_model']

BATCHES = (1, 3)


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes:
        metadata: That of the file, every value as text.
        operators: Names of the graph's operators.
        differences: The largest difference from the model's scores, by batch size.
        unknown: Transforms of the test pipeline that ``metadata['resize']`` leaves out.
    """

    metadata: dict[str, str]
    operators: list[str]
    differences: dict[int, float]
    unknown: tuple[str, ...]


def export_model(
    config: str,
    checkpoint: str,
    output: str | Path,
    size: tuple[int, int] | None = None,
    threshold: Threshold = 0.5,
    options: dict[str, Any] | None = None,
    rng: np.random.Generator | None = None,
) -> Exported:
    """Write a trained model as an ONNX file, if its scores are those of the model.

    The file takes ``images``, RGB (N, 3, H, W) from 0 to 255 in float32, and gives ``scores``
    (N, K). Both are compared on random pictures, in batches of 1 and 3.

    Args:
        config: Config file.
        checkpoint: Checkpoint file.
        output: The ``.onnx`` file.
        size: Height and width of the pictures; default is what the test pipeline gives.
        threshold: Lowest score of a label, for the metadata of multi-label models (see
            :func:`~mmshufflemix.inference.class_thresholds.threshold_vector`).
        options: Dotted names of settings and their values, to change in the config.
        rng: Draws the pictures; default is a fixed seed.

    Raises:
        FileNotFoundError: If a file is missing.
        ImportError: If a package for the export is missing.
        ValueError: If the model cannot be exported, is random, or the scores differ by more than
            1e-4 (nothing is written then), or the output cannot be written.
    """
    require_packages()
    if Path(output).suffix != '.onnx':
        raise ValueError(f"the output must be an .onnx file, got '{output}'.")
    check_writable(output)
    model = build_model(config, checkpoint, 'cpu', options)
    cfg, bgr = model._config, loads_bgr(model._config)
    size = size or pipeline_size(cfg)
    _check_size(size, model.data_preprocessor.pad_size_divisor)
    rng = rng or np.random.default_rng(0)
    batches = [rng.integers(0, 256, (count, 3, *size), dtype=np.uint8) for count in BATCHES]
    detach(model)
    references = [model_scores(model, batch, bgr) for batch in batches]
    network = ScoreNetwork(model, bgr)
    proto = export_graph(network, size)
    check_not_random(proto)
    classes = _class_names(model._dataset_meta, references[0].shape[1])
    rule = resize_rule(test_dataset(cfg).pipeline)
    metadata = make_metadata(
        classes,
        threshold_vector(threshold, classes).tolist() if network.several else None,
        size,
        *mean_and_std(model.data_preprocessor),
        rule,
        mmshufflemix.__version__,
    )
    write_metadata(proto, metadata)
    content = proto.SerializeToString()
    differences = {
        len(batch): score_difference(reference, onnx_scores(content, batch))
        for batch, reference in zip(batches, references, strict=True)
    }
    write_bytes(output, content)
    return Exported(metadata, operators(proto), differences, rule.unknown)


def _check_size(size: tuple[int, int], divisor: int) -> None:
    if min(size) < 1:
        raise ValueError(f'the size must be positive, got {size[0]} x {size[1]}.')
    if divisor > 1 and (size[0] % divisor or size[1] % divisor):
        raise ValueError(
            f'the data preprocessor pads pictures to multiples of {divisor}, which the exported '
            f'network does not; give a --size of such multiples, not {size[0]} {size[1]}.'
        )


def _class_names(metainfo: Mapping[str, Any], count: int) -> list[str]:
    classes = names_or_numbers(metainfo, count)
    if len(classes) != count:
        raise ValueError(
            f'there are {len(classes)} class names but the model has {count} scores; use the '
            'checkpoint of this config.'
        )
    return [str(name) for name in classes]
