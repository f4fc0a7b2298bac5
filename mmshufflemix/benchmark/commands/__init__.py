"""The commands of ``tools/benchmark.py``, one file each with an ``add_command`` function."""

from mmshufflemix.benchmark.commands import robustness, step

__all__ = ['COMMANDS']

COMMANDS = (step, robustness)
