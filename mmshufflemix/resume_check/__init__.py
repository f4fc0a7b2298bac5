"""Compare a checkpoint with the config of the run that goes on from it."""

from mmshufflemix.resume_check.batch import Batch, batch_warnings, read_batch
from mmshufflemix.resume_check.first_step import check_first_step
from mmshufflemix.resume_check.optimizer import (
    NEW_RUN,
    WAY_OUT,
    changed_kind,
    changed_settings,
    check_groups,
)
from mmshufflemix.resume_check.schedule import (
    RunLength,
    check_cycles,
    is_unfinished,
    schedule_warnings,
)

__all__ = [
    'NEW_RUN',
    'WAY_OUT',
    'Batch',
    'RunLength',
    'batch_warnings',
    'changed_kind',
    'changed_settings',
    'check_cycles',
    'check_first_step',
    'check_groups',
    'is_unfinished',
    'read_batch',
    'schedule_warnings',
]
