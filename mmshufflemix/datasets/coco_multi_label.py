"""COCO's object annotations as multi-label data."""

from __future__ import annotations

import contextlib
import io
import os

from mmpretrain.registry import DATASETS

from mmshufflemix.class_names import check_class_names
from mmshufflemix.datasets.checked_multi_label import (
    CheckedMultiLabelDataset,
    check_inside,
    read_json,
)
from mmshufflemix.text import some

__all__ = ['COCOMultiLabel', 'read_instances']


@DATASETS.register_module()
class COCOMultiLabel(CheckedMultiLabelDataset):
    """Images of an ``instances_*.json`` file with the classes of their objects.

    Every image of the file is a sample, also one without objects, with ``img_path``, ``gt_label``
    (sorted class ids, each once) and an empty ``gt_label_difficult`` (COCO has no such flag).
    Crowd objects count like any other. The classes are the categories in the order of their ids,
    renumbered 0..K-1; ``metainfo=dict(classes=(...))`` chooses another order or a subset, by name.

    Args:
        ann_file: The ``instances_*.json`` file, relative to ``data_root``.
        **kwargs: Arguments of MMPretrain's ``BaseDataset``: ``data_root``, ``data_prefix`` (image
            folder, such as ``'train2014'``), ``metainfo``, ``pipeline`` and more.

    Raises:
        ImportError: If pycocotools is not installed.
        ValueError: If the file is malformed, or a name in ``classes`` is not one of its categories.
        FileNotFoundError: If the file or pictures are missing.
    """

    def load_data_list(self) -> list[dict]:
        """Read the annotation file."""
        categories, images = read_instances(self.ann_file)
        self._metainfo.setdefault('classes', check_class_names(list(categories.values())))
        class_ids = self.class_to_idx
        unknown = [name for name in class_ids if name not in categories.values()]
        if unknown:
            raise ValueError(
                f'{len(unknown)} of {len(class_ids)} names in `classes` are not categories of '
                f'{self.ann_file}: {some(unknown)}; it has {some(categories.values())}'
            )
        chosen = {key: class_ids[name] for key, name in categories.items() if name in class_ids}
        return [
            {
                'img_path': os.path.join(self.img_prefix, name),
                'gt_label': sorted(chosen[key] for key in found if key in chosen),
                'gt_label_difficult': [],
            }
            for name, found in images
        ]


def read_instances(path: str) -> tuple[dict[int, str], list[tuple[str, set[int]]]]:
    """Read an ``instances_*.json`` file.

    Returns:
        The category names by id, in the order of the ids, and for every image, in the order of the
        file, its file name and the category ids of its objects.

    Raises:
        ImportError: If pycocotools is not installed.
        FileNotFoundError: If there is no such file.
        ValueError: If it is not in COCO's instances format or its parts contradict each other.
    """
    try:
        from pycocotools.coco import COCO
    except ImportError as error:
        raise ImportError('COCOMultiLabel needs pycocotools; pip install pycocotools') from error
    content = read_json(path)
    absent = [key for key in ('images', 'annotations', 'categories') if key not in content]
    if absent:
        raise ValueError(
            f"{path} lacks {some(absent)}, expected COCO's instances format with images, "
            'annotations and categories'
        )
    coco = COCO()
    coco.dataset = content
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            coco.createIndex()
        categories = {key: str(coco.cats[key]['name']) for key in sorted(coco.cats)}
        images = [
            (str(image['file_name']), {entry['category_id'] for entry in coco.imgToAnns[key]})
            for key, image in coco.imgs.items()
        ]
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{path} is not in COCO's instances format ({type(error).__name__}: {error})"
        ) from error
    _check_consistent(content, set(categories), set(coco.imgs), path)
    for name, _ in images:
        check_inside(name, path)
    return categories, images


def _check_consistent(content: dict, categories: set[int], images: set[int], path: str) -> None:
    entries = content['annotations']
    for key, known, where in (
        ('category_id', categories, 'categories'),
        ('image_id', images, 'images'),
    ):
        if len(known) != len(content[where]):
            raise ValueError(
                f'{path} has {len(content[where])} {where} but {len(known)} different ids among '
                'them, expected one id each'
            )
        unknown = [entry[key] for entry in entries if entry[key] not in known]
        if unknown:
            raise ValueError(
                f'{len(unknown)} of {len(entries)} annotations in {path} have a {key} that is not '
                f'in its {where}: {some(sorted(set(unknown)))}'
            )
