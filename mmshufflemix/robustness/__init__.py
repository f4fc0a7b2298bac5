"""Accuracy under noise on the test images (paper, section on robustness)."""

from mmshufflemix.robustness.batches import Batch, prepared_batches
from mmshufflemix.robustness.loop import RobustnessLoop
from mmshufflemix.robustness.measure import measure_robustness
from mmshufflemix.robustness.metric import EvaluatorMetric, TopOne, choose_metric
from mmshufflemix.robustness.noise import MODES, NOISES, add_salt_pepper, add_white_noise
from mmshufflemix.robustness.plot import draw_robustness
from mmshufflemix.robustness.report import curve_names, format_table, read_record
from mmshufflemix.robustness.study import CURVE_LEVELS, PAPER_LEVELS, Condition, Study, run_study

__all__ = [
    'CURVE_LEVELS',
    'MODES',
    'NOISES',
    'PAPER_LEVELS',
    'Batch',
    'Condition',
    'EvaluatorMetric',
    'RobustnessLoop',
    'Study',
    'TopOne',
    'add_salt_pepper',
    'add_white_noise',
    'choose_metric',
    'curve_names',
    'draw_robustness',
    'format_table',
    'measure_robustness',
    'prepared_batches',
    'read_record',
    'run_study',
]
