"""From a trained multi-label model to predictions."""

from mmshufflemix.inference.class_thresholds import threshold_vector
from mmshufflemix.inference.inferencer import MultiLabelInferencer
from mmshufflemix.inference.sources import find_pictures

__all__ = ['MultiLabelInferencer', 'find_pictures', 'threshold_vector']
