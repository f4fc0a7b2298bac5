"""Validate on every rank the model that is saved."""

from __future__ import annotations

from mmengine import dist
from mmengine.hooks import Hook
from mmengine.runner import Runner
from mmpretrain.registry import HOOKS

__all__ = ['BroadcastBuffersHook']


@HOOKS.register_module()
class BroadcastBuffersHook(Hook):
    """Gives every rank the buffers of rank 0 (BatchNorm's statistics) before each validation.

    Each rank averages the statistics of its own images, and checkpoints hold those of rank 0.
    Without this, the ranks validate different models, and a resumed run reports other figures than
    one without the stop. MMEngine's ``SyncBuffersHook`` averages the statistics after the epoch
    instead, which leaves out the model that EMA puts in place for the validation.
    """

    # After EMA has put its model in place.
    priority = 'LOWEST'

    def before_val_epoch(self, runner: Runner) -> None:
        """Send the buffers of rank 0 to all."""
        for buffer in runner.model.buffers():
            dist.broadcast(buffer, src=0)
