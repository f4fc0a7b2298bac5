"""What another batch size, or number of processes, does to a resumed run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mmshufflemix.resume_check.optimizer import WAY_OUT
from mmshufflemix.text import some

__all__ = ['Batch', 'batch_warnings', 'read_batch']


@dataclass(frozen=True)
class Batch:
    """What one step of the optimizer takes.

    Attributes:
        size: Images of one process, 0 if not known.
        processes: Number of processes.
        accumulation: Iterations whose gradients are added up.
    """

    size: int
    processes: int
    accumulation: int

    @property
    def images(self) -> int:
        """Images of one step."""
        return self.size * self.processes * self.accumulation

    def __str__(self) -> str:
        return f'{self.images} ({self.size} x {self.processes} x {self.accumulation})'


def read_batch(content: Any) -> Batch | None:
    """Read what a checkpoint says, which anybody may have written; None if it says nothing."""
    names = Batch.__dataclass_fields__
    if not isinstance(content, Mapping) or not all(isinstance(content.get(n), int) for n in names):
        return None
    return Batch(**{name: content[name] for name in names})


def batch_warnings(
    before: Batch | None, now: Batch, old_epoch: int, new_epoch: int, bent: Sequence[str]
) -> Iterator[str]:
    """Say what has changed, and what it means for the learning rate.

    Args:
        before: Of the run that wrote the checkpoint, if known.
        now: Of this run.
        old_epoch: Iterations of an epoch of that run.
        new_epoch: Iterations of an epoch now.
        bent: Names of schedules that count iterations and are not at their end.

    Yields:
        Sentences without a full stop.
    """
    other_epoch = old_epoch != new_epoch
    epochs = f'an epoch has {new_epoch} iterations and had {old_epoch}'
    parts = 'batch size x processes x accumulated iterations'
    if before is None:
        why = f'{epochs} when the checkpoint was written (another batch size, number of processes '
        why += 'or training set)'
    elif before.images != now.images:
        why = f'a step takes {now} images and took {before} when the checkpoint was written '
        why += f'({parts})'
    elif before != now:
        why = f'{epochs}, since a step takes {now} and not {before} images ({parts})'
    else:
        why = f'{epochs} when the checkpoint was written (another training set)'
    if other_epoch and bent:
        yield (
            f'{why}: {some(sorted(set(bent)))} in param_scheduler, which counts iterations, goes '
            'on from a count of the old ones, and the learning rate leaves its plan; '
            f'{WAY_OUT}'
        )
    elif before is None and other_epoch:
        yield f'{why}: the learning rate is not adapted to another batch size; {WAY_OUT}'
    elif before is not None and before.images != now.images:
        yield f'{why}: the learning rate is not adapted to it; {WAY_OUT}'
