"""Let one process of several speak, also before they meet."""

from __future__ import annotations

import os
import sys
import time

__all__ = ['check_launched', 'is_first_process', 'wait_for_first_task']

_RANKS = {'pytorch': 'RANK', 'slurm': 'SLURM_PROCID', 'mpi': 'OMPI_COMM_WORLD_RANK'}
# Words of a command line: wrong options are told before they have all been read.
_BY_SLURM = {'slurm', '--launcher=slurm'}
_PATIENCE = 10.0
"""Seconds that another task has to find the same mistake."""


def check_launched(launcher: str) -> None:
    """Check that a launcher has started this process.

    Args:
        launcher: As in ``--launcher``.

    Raises:
        ValueError: If what each launcher tells its processes is missing.
    """
    rank = _RANKS.get(launcher)
    if rank and rank not in os.environ:
        raise ValueError(
            f'--launcher {launcher} is for processes that it has started, but {rank} is not set; '
            'leave it out for one process, or use tools/dist_train.sh, dist_test.sh or those of '
            'Slurm, which set it themselves.'
        )


def is_first_process(launcher: str | None) -> bool:
    """Tell whether a process is the first of those that a launcher started, or the only one.

    Args:
        launcher: As in ``--launcher``.
    """
    return os.environ.get(_RANKS.get(launcher or '', ''), '0') == '0'


def wait_for_first_task() -> None:
    """Give the first task of Slurm time to print the mistake that this one would print, too.

    tools/launch_common.sh lets srun end all tasks once one has failed. A mistake that only this
    task sees is printed after the wait. A task without ``--launcher slurm`` is a run of its own.
    """
    if _BY_SLURM.intersection(sys.argv) and not is_first_process('slurm'):
        time.sleep(_PATIENCE)
