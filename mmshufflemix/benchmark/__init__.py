"""What the mixing costs, measured."""

from mmshufflemix.benchmark.machine import describe_machine
from mmshufflemix.benchmark.paired import PairedTimes, time_pairs
from mmshufflemix.benchmark.step import STEP_AUGMENTS, StepCost, measure_step

__all__ = [
    'STEP_AUGMENTS',
    'PairedTimes',
    'StepCost',
    'describe_machine',
    'measure_step',
    'time_pairs',
]
