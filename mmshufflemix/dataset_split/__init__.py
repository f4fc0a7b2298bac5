"""Split a labelled set into parts that have each class in equal shares."""

from mmshufflemix.dataset_split.run import SplitOptions, describe_split, split_file

__all__ = ['SplitOptions', 'describe_split', 'split_file']
