"""PASCAL VOC 2007 and 2012 as multi-label data, with a rule for difficult objects."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from mmengine.logging import print_log
from mmpretrain.datasets.categories import VOC2007_CATEGORIES
from mmpretrain.registry import DATASETS

from mmshufflemix.datasets.checked_multi_label import CheckedMultiLabelDataset
from mmshufflemix.datasets.voc_files import read_annotations
from mmshufflemix.text import some

__all__ = ['VOCMultiLabel', 'split_difficult']

_FOLDERS = {'img_path': 'JPEGImages', 'ann_path': 'Annotations'}


@DATASETS.register_module()
class VOCMultiLabel(CheckedMultiLabelDataset):
    """Images of a VOC tree with the classes of their objects.

    Every sample has ``img_path``, ``gt_label`` (sorted class ids, each once) and
    ``gt_label_difficult`` (ids of the classes whose only objects in the image are difficult). In
    testing (``test_mode=True``) ``gt_label`` holds the other, certain classes, and the metric
    leaves the difficult ones out. In training the rule is ``difficult``:

    - ``'positive'``: they are in ``gt_label`` too (ML-GCN, CVPR 2019);
    - ``'negative'``: they are not;
    - ``'ignore'``: the image is left out, so that no loss and no mix ever sees a doubtful label.

    An object whose class is not in ``classes`` is an error unless ``other_classes='skip'``, since
    the XML files hold no list of names that could tell a subset from a typing mistake.

    Args:
        data_root: Folder with ``Annotations``, ``ImageSets/Main`` and ``JPEGImages``, such as
            ``VOCdevkit/VOC2007``.
        split: Name of a list in ``ImageSets/Main``: train, val, trainval, test, or your own.
        difficult: Rule for training, see above.
        data_prefix: Other folders for ``img_path`` or ``ann_path``, relative to ``data_root``.
        img_suffix: Ending of the image files.
        other_classes: ``'error'``, or ``'skip'`` to leave out objects whose class is not in
            ``classes``; their number and classes are logged. Their images stay.
        **kwargs: Arguments of MMPretrain's ``BaseDataset``; ``metainfo=dict(classes=(...))`` names
            the classes of an own set.

    Raises:
        ValueError: If ``difficult`` or ``other_classes`` is unknown, objects have unknown classes,
            or a file is malformed.
        FileNotFoundError: If the image list, annotation files or pictures are missing.
    """

    METAINFO: ClassVar[dict] = {'classes': VOC2007_CATEGORIES}

    def __init__(
        self,
        data_root: str,
        split: str = 'trainval',
        difficult: str = 'positive',
        data_prefix: Mapping[str, str] | None = None,
        img_suffix: str = '.jpg',
        other_classes: str = 'error',
        **kwargs: Any,
    ) -> None:
        if difficult not in ('positive', 'negative', 'ignore'):
            raise ValueError(
                f"difficult must be 'positive', 'negative' or 'ignore', got {difficult!r}"
            )
        if other_classes not in ('error', 'skip'):
            raise ValueError(f"other_classes must be 'error' or 'skip', got {other_classes!r}")
        self.difficult = difficult
        self.other_classes = other_classes
        self.img_suffix = img_suffix
        super().__init__(
            ann_file=os.path.join('ImageSets', 'Main', f'{split}.txt'),
            data_root=data_root,
            data_prefix={**_FOLDERS, **(data_prefix or {})},
            **kwargs,
        )

    def load_data_list(self) -> list[dict]:
        """Read the image list and the annotation file of each image."""
        names, objects = read_annotations(self.ann_file, self.data_prefix['ann_path'])
        class_ids = self.class_to_idx
        objects = self._of_known_classes(objects, class_ids)
        data_list = []
        for name, found in zip(names, objects, strict=True):
            labels, difficult = split_difficult(found, class_ids)
            if not self.test_mode:
                if difficult and self.difficult == 'ignore':
                    continue
                if self.difficult == 'positive':
                    labels = sorted(labels + difficult)
            data_list.append(
                {
                    'img_path': os.path.join(self.img_prefix, f'{name}{self.img_suffix}'),
                    'gt_label': labels,
                    'gt_label_difficult': difficult,
                }
            )
        return data_list

    def _of_known_classes(
        self, objects: list[list[tuple[str, bool]]], class_ids: Mapping[str, int]
    ) -> list[list[tuple[str, bool]]]:
        names = [name for found in objects for name, _ in found]
        unknown = [name for name in names if name not in class_ids]
        if not unknown:
            return objects
        text = (
            f'{len(unknown)} of {len(names)} objects listed by {self.ann_file} have classes not in '
            f'`classes`: {some(sorted(set(unknown)))}'
        )
        if self.other_classes == 'error':
            raise ValueError(
                f'{text}; name all classes of the set with metainfo=dict(classes=(...)), or leave '
                "the other objects out with other_classes='skip' of each data set"
            )
        print_log(f'{text}; they are left out', logger='current', level=logging.WARNING)
        return [[item for item in found if item[0] in class_ids] for found in objects]


def split_difficult(
    objects: Sequence[tuple[str, bool]], class_ids: Mapping[str, int]
) -> tuple[list[int], list[int]]:
    """Split the classes of one image's (name, difficult) objects.

    Returns:
        The sorted ids of the classes with at least one object that is not difficult, and of those
        that occur only as difficult.
    """
    certain = {class_ids[name] for name, difficult in objects if not difficult}
    present = {class_ids[name] for name, _ in objects}
    return sorted(certain), sorted(present - certain)
