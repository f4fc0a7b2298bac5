"""Decision boundaries of small networks on synthetic points (arXiv 2305.18684).

Networks are trained by MMPretrain's training step with the batch augments of this package, so what
mixes here is what mixes in any other training.
"""

from mmshufflemix.decision_boundary.methods import (
    DEFAULT_METHODS,
    METHODS,
    Method,
    choose_methods,
)
from mmshufflemix.decision_boundary.network import PlaneMLP, build_network, probabilities
from mmshufflemix.decision_boundary.picture import draw_boundaries, shade
from mmshufflemix.decision_boundary.points import PointSet, best_accuracy, draw_rings, ring_radii
from mmshufflemix.decision_boundary.study import (
    BEST,
    CLASS_COUNTS,
    Outcome,
    Study,
    run_study,
)
from mmshufflemix.decision_boundary.summary import accuracy_table, study_record
from mmshufflemix.decision_boundary.training import Schedule, accuracy, train_network

__all__ = [
    'BEST',
    'CLASS_COUNTS',
    'DEFAULT_METHODS',
    'METHODS',
    'Method',
    'Outcome',
    'PlaneMLP',
    'PointSet',
    'Schedule',
    'Study',
    'accuracy',
    'accuracy_table',
    'best_accuracy',
    'build_network',
    'choose_methods',
    'draw_boundaries',
    'draw_rings',
    'probabilities',
    'ring_radii',
    'run_study',
    'shade',
    'study_record',
    'train_network',
]
