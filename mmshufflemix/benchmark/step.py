"""A training step with an augment against the same step without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from mmengine.model import ExponentialMovingAverage
from mmengine.optim import OptimWrapper
from mmpretrain.models import ImageClassifier
from mmpretrain.registry import MODELS
from mmpretrain.structures import DataSample

from mmshufflemix.benchmark.machine import wait_for
from mmshufflemix.benchmark.network import preact_classifier
from mmshufflemix.benchmark.paired import PairedTimes, time_pairs
from mmshufflemix.mixer import detach

__all__ = ['PRECISIONS', 'STEP_AUGMENTS', 'StepCost', 'measure_step']

PRECISIONS = {'float32': None, 'bf16': torch.bfloat16, 'fp16': torch.float16}
"""Type of autocast for each precision; none for float32."""

STEP_AUGMENTS: dict[str, dict[str, Any]] = {
    'ShuffleMix': {'type': 'ShuffleMix'},
    'ShuffleMix-hard': {'type': 'ShuffleMix', 'mode': 'hard'},
    'ManifoldMixup': {'type': 'ManifoldMixup'},
    'InputMixup': {'type': 'InputMixup'},
    'NoisyFeatureMixup': {'type': 'NoisyFeatureMixup'},
    'ShuffleMixNFM': {'type': 'ShuffleMixNFM'},
}
_NUM_CLASSES = 10
_IMAGE_SIZE = 32


@dataclass(frozen=True)
class StepCost:
    """The network and batch that steps are measured on.

    Attributes:
        depth: Depth of PreActResNet.
        batch_size: Images of 32 x 32 in a batch.
        pairs: Number of timed pairs of steps.
        seed: Seed of weights, pictures and draws.
        precision: One of ``PRECISIONS``; other than float32 means autocast.
        ema: Update an exponential moving average of the model after each step.
        device: Where to measure.
    """

    depth: int = 18
    batch_size: int = 32
    pairs: int = 60
    seed: int = 0
    precision: str = 'float32'
    ema: bool = False
    device: str = 'cpu'


def measure_step(
    augment: dict[str, Any], cost: StepCost, report: Callable[[int], object] = lambda done: None
) -> PairedTimes:
    """Time steps of two equal models, the second with the augment; the first has no hooks of ours.

    Args:
        augment: Config of the augment.
        cost: Network, batch and number of pairs.
        report: Called with the number of pairs after each.
    """
    plain, mixed = _build(None, cost), _build(augment, cost)
    detach(plain)
    torch.manual_seed(cost.seed)
    return time_pairs(
        _stepper(plain, cost),
        _stepper(mixed, cost),
        partial(_batch, cost),
        cost.pairs,
        report=report,
    )


def _build(augment: dict[str, Any] | None, cost: StepCost) -> ImageClassifier:
    torch.manual_seed(cost.seed)
    config = preact_classifier(
        cost.depth,
        _NUM_CLASSES,
        data_preprocessor={
            'num_classes': _NUM_CLASSES,
            'mean': [127.5] * 3,
            'std': [127.5] * 3,
            'to_onehot': augment is not None,
        },
        train_cfg=None if augment is None else {'augments': augment},
    )
    return MODELS.build(config).to(cost.device).train()


def _stepper(model: ImageClassifier, cost: StepCost) -> Callable[[dict[str, Any]], object]:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    wrapper = OptimWrapper(optimizer)
    average = ExponentialMovingAverage(model) if cost.ema else None
    dtype = PRECISIONS[cost.precision]
    device = torch.device(cost.device).type

    def step(batch: dict[str, Any]) -> None:
        # Not MMEngine's AmpOptimWrapper, which refuses the CPU. No loss scaling: only time counts.
        with torch.autocast(device, dtype or torch.bfloat16, enabled=dtype is not None):
            model.train_step(batch, wrapper)
        if average is not None:
            average.update_parameters(model)
        wait_for(cost.device)

    return step


def _batch(cost: StepCost, number: int) -> dict[str, Any]:
    generator = torch.Generator().manual_seed(cost.seed + number + 10)
    shape = (cost.batch_size, 3, _IMAGE_SIZE, _IMAGE_SIZE)
    images = torch.randint(0, 256, shape, dtype=torch.uint8, generator=generator)
    labels = torch.randint(0, _NUM_CLASSES, (cost.batch_size,), generator=generator)
    samples = [DataSample().set_gt_label(label) for label in labels.tolist()]
    return {'inputs': images, 'data_samples': samples}
