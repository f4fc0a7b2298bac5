"""Metrics, registered in MMPretrain's METRICS."""

from mmshufflemix.evaluation.calibration import CalibrationReport
from mmshufflemix.evaluation.multi_label_report import MultiLabelReport
from mmshufflemix.evaluation.validation_loss import ValidationLoss

__all__ = ['CalibrationReport', 'MultiLabelReport', 'ValidationLoss']
