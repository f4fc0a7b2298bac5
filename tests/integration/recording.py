"""Watch or replace the draws of the augments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from mmengine.hooks import Hook
from mmengine.runner import Runner

import mmshufflemix.augments.base
import mmshufflemix.live_plan
from mmshufflemix.layers import LayerSite
from mmshufflemix.plan import MixPlan, mix_layer


@contextmanager
def recorded_mixing(note: Callable[[MixPlan], Any] = lambda plan: plan) -> Iterator[list[Any]]:
    """List the plans that are applied to features, in order, or a note of each."""
    notes: list[Any] = []

    def record(x: torch.Tensor, plan: MixPlan) -> torch.Tensor:
        notes.append(note(plan))
        return mix_layer(x, plan)

    with (
        patch.object(mmshufflemix.live_plan, 'mix_layer', record),
        patch.object(mmshufflemix.augments.base, 'mix_layer', record),
    ):
        yield notes


@contextmanager
def fixed_plan(plan: MixPlan) -> Iterator[None]:
    """Let every augment draw this plan."""

    def draw(sites: list[LayerSite], batch_size: int, **draws: Any) -> MixPlan:
        return plan

    with patch.object(mmshufflemix.augments.base, 'draw_plan', draw):
        yield


class StepLog(Hook):
    """Note for each training step the loss and how often something was mixed."""

    def __init__(self, plans: list[Any]) -> None:
        self.plans = plans
        self.steps: list[tuple[int, int, float]] = []
        self.mixed_in_validation = 0
        self._seen = 0

    def after_train_iter(
        self, runner: Runner, batch_idx: int, data_batch: Any = None, outputs: Any = None
    ) -> None:
        mixed = len(self.plans) - self._seen
        self.steps.append((runner.epoch + 1, mixed, outputs['loss'].item()))
        self._seen = len(self.plans)

    def after_val_epoch(self, runner: Runner, metrics: Any = None) -> None:
        self.mixed_in_validation += len(self.plans) - self._seen

    def counts(self) -> list[tuple[int, int]]:
        """List epoch and number of mixings of each step."""
        return [(epoch, mixed) for epoch, mixed, _ in self.steps]


def train(cfg: Any) -> tuple[Runner, StepLog]:
    """Run a job and log its mixing."""
    with recorded_mixing() as plans:
        log = StepLog(plans)
        runner = Runner.from_cfg(cfg)
        runner.register_hook(log)
        runner.train()
    return runner, log
