"""A robustness study against as many plain forward passes of the same images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from mmpretrain.models import ImageClassifier
from mmpretrain.registry import MODELS
from mmpretrain.structures import DataSample

from mmshufflemix.benchmark.network import preact_classifier
from mmshufflemix.benchmark.paired import PairedTimes, time_pairs
from mmshufflemix.robustness.batches import Batch
from mmshufflemix.robustness.metric import TopOne
from mmshufflemix.robustness.study import CURVE_LEVELS, PAPER_LEVELS, Study, run_study

__all__ = ['PAPER_STUDY_LEVELS', 'RobustnessCost', 'measure_robustness_study']

PAPER_STUDY_LEVELS = {
    'white': PAPER_LEVELS['white'] + CURVE_LEVELS,
    'salt_pepper': PAPER_LEVELS['salt_pepper'],
}
"""The paper's table and figure."""
_NUM_CLASSES = 10
_IMAGE_SIZE = 32


@dataclass(frozen=True)
class RobustnessCost:
    """The network and images that a study is measured on.

    Attributes:
        depth: Depth of PreActResNet, 18 or 34.
        base_channels: Its width, 64 in the paper; a narrower one makes noise dearer by comparison.
        batch_size: Images of 32 x 32 in a batch.
        pairs: Number of timed pairs.
        seed: Seed of weights and images.
    """

    depth: int = 18
    base_channels: int = 64
    batch_size: int = 100
    pairs: int = 5
    seed: int = 0


def measure_robustness_study(
    cost: RobustnessCost, report: Callable[[int], object] = lambda done: None
) -> PairedTimes:
    """Time the paper's levels with one noise seed on one batch, against the forward passes alone.

    The clean pass counts among the forward passes; model and data are loaded before.

    Args:
        cost: Network, images and number of pairs.
        report: Called with the number of pairs after each.
    """
    model, batch, metric = _build(cost), _batch(cost), TopOne()
    study = Study(PAPER_STUDY_LEVELS, seeds=(cost.seed,))

    def plain(_: object) -> None:
        with torch.no_grad():
            for _ in range(study.passes()):
                metric.finish([metric.collect(model, batch.images, batch)])

    def whole(_: object) -> None:
        run_study(study, model, metric, lambda: iter([batch]))

    return time_pairs(plain, whole, lambda number: None, cost.pairs, warmup=1, report=report)


def _build(cost: RobustnessCost) -> ImageClassifier:
    torch.manual_seed(cost.seed)
    config = preact_classifier(cost.depth, _NUM_CLASSES, cost.base_channels)
    return MODELS.build(config).eval()


def _batch(cost: RobustnessCost) -> Batch:
    generator = torch.Generator().manual_seed(cost.seed)
    shape = (cost.batch_size, 3, _IMAGE_SIZE, _IMAGE_SIZE)
    labels = torch.randint(0, _NUM_CLASSES, (cost.batch_size,), generator=generator)
    samples = [DataSample().set_gt_label(label) for label in labels.tolist()]
    return Batch(torch.randn(shape, generator=generator), samples)
