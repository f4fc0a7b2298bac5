"""Reading the files of a PASCAL VOC tree: image lists and object annotations."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

from mmshufflemix.datasets.checked_multi_label import check_inside, require_files

__all__ = ['read_annotations', 'read_image_list', 'read_objects']


def read_image_list(path: str) -> list[str]:
    """Read the image ids of ``ImageSets/Main/<split>.txt``, one a line, blank lines skipped.

    Raises:
        FileNotFoundError: If there is no such list.
        ValueError: If a line has several fields, an id leads out of the folder, or the list is
            empty.
    """
    if not os.path.isfile(path):
        raise FileNotFoundError(
            f'the image list {path} does not exist; set data_root to the folder that holds '
            'Annotations, ImageSets and JPEGImages (official layout: VOCdevkit/VOC2007), and split '
            'to the name of a list in ImageSets/Main'
        )
    try:
        text = Path(path).read_text('utf-8-sig')
    except UnicodeDecodeError as error:
        raise ValueError(f'the image list {path} is not UTF-8 text; save it as UTF-8') from error
    names = []
    for number, line in enumerate(text.splitlines(), start=1):
        name = line.strip()
        if not name:
            continue
        if len(name.split()) > 1:
            raise ValueError(
                f'line {number} of {path} is {name!r}, expected one image id; use the list of a '
                'split (such as trainval), not the one of a class'
            )
        check_inside(name, path)
        names.append(name)
    if not names:
        raise ValueError(f'the image list {path} is empty; expected one image id a line')
    return names


def read_annotations(
    image_list: str, folder: str
) -> tuple[list[str], list[list[tuple[str, bool]]]]:
    """Read the annotation files of all images of a list.

    Args:
        image_list: Path of the list, see :func:`read_image_list`.
        folder: The one of the annotation files.

    Returns:
        The image ids, and the objects of each as :func:`read_objects` returns them.

    Raises:
        FileNotFoundError: If the list or annotation files are missing.
        ValueError: If one of them is malformed.
    """
    names = read_image_list(image_list)
    paths = [os.path.join(folder, f'{name}.xml') for name in names]
    require_files(paths, 'annotation files')
    return names, [read_objects(path) for path in paths]


def read_objects(path: str) -> list[tuple[str, bool]]:
    """Read (class name, difficult) of every object of one annotation file, in file order.

    An object without a ``difficult`` tag is not difficult. Names inside ``part`` tags are not
    objects.

    Raises:
        ValueError: If the file declares a document type (entities could be expanded without end),
            is not VOC's XML, has an object without a name, or a ``difficult`` other than 0 and 1.
    """
    content = Path(path).read_bytes()
    # A NUL byte means UTF-16 or UTF-32, where the declaration would be spelled differently.
    if b'<!DOCTYPE' in content or b'\0' in content:
        raise ValueError(
            f'{path} declares a document type or is not UTF-8, which is refused because entities '
            'could be expanded without end; expected plain VOC XML'
        )
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise ValueError(f'{path} is not a valid XML file ({error})') from error
    if root.tag != 'annotation':
        raise ValueError(f'{path} holds <{root.tag}>, expected the <annotation> of VOC')
    objects = []
    for number, node in enumerate(root.findall('object'), start=1):
        name = (node.findtext('name') or '').strip()
        difficult = (node.findtext('difficult') or '0').strip()
        if not name:
            raise ValueError(f'object {number} of {path} has no name, expected a class name')
        if difficult not in ('0', '1'):
            raise ValueError(
                f'object {number} of {path} has difficult={difficult!r}, expected 0 or 1'
            )
        objects.append((name, difficult == '1'))
    return objects
