"""The report of a finished run as one HTML file."""

from mmshufflemix.report.build import Sources, write_report

__all__ = ['Sources', 'write_report']
