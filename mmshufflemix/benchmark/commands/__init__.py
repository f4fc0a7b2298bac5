"""The commands of ``tools/benchmark.py``, one file each with an ``add_command`` function."""

from mmshufflemix.benchmark.commands import data, gpu, large_images, op, robustness, step, timed

__all__ = ['COMMANDS']

COMMANDS = (op, step, robustness, data, large_images, gpu, timed)
