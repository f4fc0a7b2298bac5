"""The experiments of the paper by one command, ours beside the paper's."""

from mmshufflemix.reproduce.guard import (
    check_settings,
    describe_difference,
    move_aside,
    stale_runs,
)
from mmshufflemix.reproduce.jobs import choose_rows, plan_jobs
from mmshufflemix.reproduce.options import check_options
from mmshufflemix.reproduce.process import end_on_signals
from mmshufflemix.reproduce.report import write_report
from mmshufflemix.reproduce.rows import Metric, PaperValue, Row, Table
from mmshufflemix.reproduce.run import describe_job, run_jobs
from mmshufflemix.reproduce.tables import TABLES, find_table, register_table

__all__ = [
    'TABLES',
    'Metric',
    'PaperValue',
    'Row',
    'Table',
    'check_options',
    'check_settings',
    'choose_rows',
    'describe_difference',
    'describe_job',
    'end_on_signals',
    'find_table',
    'move_aside',
    'plan_jobs',
    'register_table',
    'run_jobs',
    'stale_runs',
    'write_report',
]
