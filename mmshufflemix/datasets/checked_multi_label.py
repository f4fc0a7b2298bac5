"""Checks that the datasets share: class names, files and pictures."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from mmengine.logging import print_log
from mmpretrain.datasets import BaseDataset, MultiLabelDataset
from PIL import Image

from mmshufflemix.class_names import check_class_names
from mmshufflemix.json_reading import parse_json
from mmshufflemix.text import some

__all__ = [
    'CheckedDataset',
    'CheckedMultiLabelDataset',
    'check_inside',
    'find_missing',
    'leads_out',
    'read_json',
    'require_files',
]


class CheckedDataset(BaseDataset):
    """Dataset that refuses bad class names, missing and broken pictures.

    Missing pictures are looked for once, by listing their folders, when the annotations are read.
    A dataset without a pipeline reads no pictures, so none need to be there: label statistics can
    be taken from the annotations alone.

    Args:
        *args: Arguments of MMPretrain's ``BaseDataset``.
        missing_images: ``'error'``, or ``'skip'`` to go on without the images that have no
            picture; their number and names are logged.
        **kwargs: Arguments of MMPretrain's ``BaseDataset``.

    Raises:
        TypeError: If the class names are not a list of strings.
        ValueError: If a class name occurs twice, no image is left, or a picture cannot be decoded.
        FileNotFoundError: If pictures are missing.
    """

    def __init__(self, *args: Any, missing_images: str = 'error', **kwargs: Any) -> None:
        if missing_images not in ('error', 'skip'):
            raise ValueError(f"missing_images must be 'error' or 'skip', got {missing_images!r}")
        self.missing_images = missing_images
        super().__init__(*args, **kwargs)

    @classmethod
    def _load_metainfo(cls, metainfo: Any = None) -> dict:
        loaded = super()._load_metainfo(metainfo)
        if 'classes' in loaded:
            loaded['classes'] = check_class_names(loaded['classes'])
        return loaded

    def filter_data(self) -> list[dict]:
        """Return the data list after checking that it has images and that they exist."""
        if not self.data_list:
            raise ValueError(
                f'{type(self).__name__} found no image to use in {self.ann_file}; expected at '
                'least one, check the file and the options that leave images out'
            )
        if not self.pipeline.transforms:
            return self.data_list
        paths = [info['img_path'] for info in self.data_list if 'img_path' in info]
        if self.missing_images == 'skip':
            missing = find_missing(paths)
            if len(missing) < len(paths):
                return self._without(missing, len(paths)) if missing else self.data_list
        require_files(paths, 'images')
        return self.data_list

    def prepare_data(self, idx: int) -> Any:
        """Run the pipeline on sample ``idx``; a broken picture is named in the error."""
        try:
            return super().prepare_data(idx)
        except Exception as error:
            path = self.get_data_info(idx).get('img_path')
            reason = path and _why_unreadable(path)
            if not reason:
                raise
            raise ValueError(
                f'cannot decode the image {path} ({reason}); replace it by an intact copy or take '
                f'it out of {self.ann_file}'
            ) from error

    def _without(self, missing: Sequence[str], total: int) -> list[dict]:
        print_log(
            f'{len(missing)} of {total} images of {self.ann_file} have no picture and are '
            f'skipped: {some(missing, limit=3)}',
            logger='current',
            level=logging.WARNING,
        )
        absent = set(missing)
        return [info for info in self.data_list if info.get('img_path') not in absent]


class CheckedMultiLabelDataset(CheckedDataset, MultiLabelDataset):
    """The same for data with several labels an image."""


def check_inside(name: str, source: str) -> None:
    """Check that an image name read from ``source`` stays inside the image folder.

    Raises:
        ValueError: If the name is absolute or contains ``..``.
    """
    if leads_out(name):
        raise ValueError(
            f'{source} names the image {name!r}, which leads out of the image folder; expected a '
            'name relative to it'
        )


def leads_out(name: str) -> bool:
    """Tell whether the name of an image leads out of the image folder."""
    path = PurePath(name)
    return path.is_absolute() or '..' in path.parts


def require_files(paths: Sequence[str], what: str) -> None:
    """Check that all ``paths`` exist.

    Raises:
        FileNotFoundError: With the count, the first names and the folder.
    """
    missing = find_missing(paths)
    if missing:
        raise FileNotFoundError(
            f'{len(missing)} of {len(paths)} {what} are missing: {some(missing, limit=3)}; they '
            'are looked for where data_root and data_prefix point'
        )


def find_missing(paths: Sequence[str]) -> list[str]:
    """Return those of ``paths`` that do not exist, listing each folder once."""
    listings: dict[str, set[str]] = {}
    missing = []
    for path in paths:
        folder, name = os.path.split(path)
        if folder not in listings:
            listings[folder] = _listing(folder or '.')
        if name not in listings[folder]:
            missing.append(path)
    return missing


def read_json(path: str) -> dict:
    """Read a JSON file that holds an object.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is not JSON or holds something else.
    """
    if not os.path.isfile(path):
        raise FileNotFoundError(
            f'the annotation file {path} does not exist; set data_root and ann_file to it'
        )
    try:
        with open(path, 'rb') as file:
            content = parse_json(file.read())
    except ValueError as error:
        raise ValueError(f'{path} is not a JSON file ({error})') from error
    if not isinstance(content, dict):
        raise ValueError(f'{path} holds a {type(content).__name__}, expected a JSON object')
    return content


def _listing(folder: str) -> set[str]:
    return set(os.listdir(folder)) if os.path.isdir(folder) else set()


def _why_unreadable(path: str) -> str | None:
    try:
        with Image.open(path) as image:
            image.load()
    except Exception as error:
        return f'{type(error).__name__}: {error}'
    return None
