"""The commands of ``tools/benchmark.py``, one file each with an ``add_command`` function."""

from mmshufflemix.benchmark.commands import op, robustness, step

__all__ = ['COMMANDS']

COMMANDS = (op, step, robustness)
