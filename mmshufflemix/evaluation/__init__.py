"""Metrics, registered in MMPretrain's METRICS."""

from mmshufflemix.evaluation.multi_label_report import MultiLabelReport

__all__ = ['MultiLabelReport']
