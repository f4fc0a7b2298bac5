"""Check the labels and pictures of a data set before a model is trained on it."""

from mmshufflemix.dataset_check.report import format_report, report_record
from mmshufflemix.dataset_check.run import CheckResult, check_dataset, require_sound
from mmshufflemix.dataset_check.web import write_dataset_page

__all__ = [
    'CheckResult',
    'check_dataset',
    'format_report',
    'report_record',
    'require_sound',
    'write_dataset_page',
]
