"""Train a classifier of points by the training steps of MMPretrain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from mmengine.optim import OptimWrapper
from mmpretrain.models import ImageClassifier
from mmpretrain.structures import DataSample
from torch.optim.lr_scheduler import CosineAnnealingLR

from mmshufflemix.decision_boundary.methods import Method
from mmshufflemix.decision_boundary.network import build_network, probabilities
from mmshufflemix.decision_boundary.points import PointSet

__all__ = ['Schedule', 'accuracy', 'train_network']


@dataclass(frozen=True)
class Schedule:
    """How long and how fast networks learn: Adam with a cosine learning rate.

    Attributes:
        epochs: Passes over the points, at least 1.
        batch_size: Points of a step; the last batch of an epoch may be smaller.
        learning_rate: Rate of the first step.
    """

    epochs: int = 60
    batch_size: int = 50
    learning_rate: float = 0.01

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise ValueError(f'training needs at least 1 epoch, got {self.epochs}')


def train_network(
    method: Method, points: PointSet, seed: int, schedule: Schedule
) -> ImageClassifier:
    """Train a network and return it in evaluation mode.

    All methods with one seed start from the same weights and see the same batches. PyTorch's global
    generator, from which the augments draw, is as before afterwards.

    Args:
        method: What to train with.
        points: Training points.
        seed: Seed of weights, batches, mixing and dropout.
        schedule: Epochs, batch size and learning rate.
    """
    order = torch.Generator().manual_seed(seed)
    inputs = points.points[:, :, None, None]
    with torch.random.fork_rng(devices=[]), _one_thread():
        torch.manual_seed(seed)
        model = build_network(method, points.num_classes)
        optimizer = torch.optim.Adam(
            model.parameters(), lr=schedule.learning_rate, weight_decay=method.weight_decay
        )
        wrapper = OptimWrapper(optimizer)
        decay = CosineAnnealingLR(optimizer, schedule.epochs)
        for _ in range(schedule.epochs):
            for batch in torch.randperm(len(inputs), generator=order).split(schedule.batch_size):
                labels = points.labels[batch]
                samples = [DataSample().set_gt_label(label) for label in labels]
                model.train_step({'inputs': inputs[batch], 'data_samples': samples}, wrapper)
            decay.step()
    return model.eval()


def accuracy(model: ImageClassifier, points: PointSet) -> float:
    """Share of points in percent whose most probable class is their own."""
    hits = probabilities(model, points.points).argmax(dim=1) == points.labels
    return 100 * hits.double().mean().item()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Use one thread: for layers this small more cost time, and much of it on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
