"""Compare an ONNX file with the model that it was made from."""

from __future__ import annotations

import numpy as np
import torch
from mmengine.model import BaseModel
from mmpretrain.structures import DataSample

__all__ = ['LARGEST_DIFFERENCE', 'model_scores', 'onnx_scores', 'score_difference']

LARGEST_DIFFERENCE = 1e-4


@torch.no_grad()
def model_scores(model: BaseModel, pictures: np.ndarray, bgr: bool) -> np.ndarray:
    """Scores of a model as it is tested: preprocessor, network and head's own prediction.

    Args:
        model: In evaluation mode.
        pictures: RGB pictures (N, 3, H, W) of uint8.
        bgr: Whether the model's pipeline gives BGR.

    Returns:
        Scores (N, K).
    """
    inputs = torch.from_numpy(np.ascontiguousarray(pictures[:, ::-1] if bgr else pictures))
    samples = [DataSample() for _ in pictures]
    predictions = model.test_step({'inputs': inputs, 'data_samples': samples})
    return torch.stack([prediction.pred_score for prediction in predictions]).cpu().numpy()


def onnx_scores(content: bytes, pictures: np.ndarray) -> np.ndarray:
    """Scores (N, K) of a serialised ONNX model for RGB pictures (N, 3, H, W) of any number type."""
    import onnxruntime

    session = onnxruntime.InferenceSession(content, providers=['CPUExecutionProvider'])
    return session.run(['scores'], {'images': pictures.astype(np.float32)})[0]


def score_difference(reference: np.ndarray, scores: np.ndarray) -> float:
    """The largest absolute difference of two sets of scores (N, K).

    Raises:
        ValueError: If it is above :data:`LARGEST_DIFFERENCE`, not a number, or the shapes differ.
    """
    if reference.shape != scores.shape:
        raise ValueError(
            f'the exported network gives scores of shape {scores.shape} where the model gives '
            f'{reference.shape}, so nothing was written.'
        )
    difference = float(np.abs(reference - scores).max())
    if not difference <= LARGEST_DIFFERENCE:
        raise ValueError(
            f"the exported network's scores differ from the model's by {difference:.2g}, more than "
            f'{LARGEST_DIFFERENCE:g}, so nothing was written.'
        )
    return difference
