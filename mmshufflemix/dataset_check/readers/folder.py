"""Tell the layout of a folder and read it."""

from __future__ import annotations

from pathlib import Path

from mmshufflemix.dataset_check.readers.coco_folder import read_coco_folder
from mmshufflemix.dataset_check.readers.json_folder import read_json_folder
from mmshufflemix.dataset_check.readers.voc_folder import read_voc_folder, voc_root
from mmshufflemix.dataset_check.rows import DataSet

__all__ = ['read_folder']


def read_folder(folder: str | Path) -> DataSet:
    """Read a folder in the layout of VOC, of COCO or of JSON files, noting every fault.

    Raises:
        ValueError: If it has none of these layouts.
    """
    folder = Path(folder)
    root = voc_root(folder)
    if root is not None:
        dataset = read_voc_folder(root)
    elif any((folder / 'annotations').glob('*.json')):
        dataset = read_coco_folder(folder)
    else:
        dataset = read_json_folder(folder)
    if not dataset.splits and not dataset.faults:
        raise ValueError(
            f"the folder '{folder}' has no data set; expected train.json, val.json or test.json "
            'with `data_list`, or annotations/instances_*.json of COCO, or the ImageSets/Main of '
            'VOC; for other data give a config'
        )
    return dataset
