"""Labels in other people's files, brought into the JSON form of ``MultiLabelJSON``."""

from mmshufflemix.label_files.class_names import read_class_names
from mmshufflemix.label_files.convert import (
    Conversion,
    check_target,
    convert_labels,
    describe_conversion,
)
from mmshufflemix.label_files.read import FORMATS, ReadOptions

__all__ = [
    'FORMATS',
    'Conversion',
    'ReadOptions',
    'check_target',
    'convert_labels',
    'describe_conversion',
    'read_class_names',
]
