"""Write the built-in digit sets to disk: VOC layout for canvases, one folder a class for singles.

A set is built beside its final place and renamed at the end, so that what carries the final name
is always whole. Of several processes that build at once the first to rename wins.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image

from mmshufflemix.datasets.digits import (
    CLASSES,
    Digits,
    PlacedDigit,
    draw_canvas,
    draw_labels,
    split_digits,
)
from mmshufflemix.files import check_writable, new_folder
from mmshufflemix.json_reading import parse_json

__all__ = ['write_digits', 'write_single_digits']

_RECIPE = 'recipe.json'
_VAL_SHARE = 0.2
_JPEG_QUALITY = 92
_SINGLE_SIDE = 32


def write_digits(
    root: str | Path,
    n_train: int = 300,
    n_test: int = 600,
    seed: int = 0,
    progress: Callable[[range], Iterable[int]] = iter,
) -> Path:
    """Write digit canvases in the directory layout of Pascal VOC, unless they are there.

    Args:
        root: Folder to create; takes the place of ``VOC2007`` (``JPEGImages``, ``Annotations``,
            ``ImageSets/Main``).
        n_train: Canvases in ``trainval``, the last fifth of which form ``val``.
        n_test: Canvases in ``test``, drawn from other source digits.
        seed: Equal seeds give equal files.
        progress: Wraps the loop over the canvases to show how far it is, such as rich's ``track``.

    Returns:
        The folder.

    Raises:
        ValueError: A count is too small, or the folder holds a set of other settings.
        FileExistsError: The folder holds something else.
    """
    if n_train < 2 or n_test < 1:
        raise ValueError(
            'the digit set needs at least 2 training and 1 test canvases, '
            f'got n_train={n_train} and n_test={n_test}'
        )
    recipe = {'set': 'digit canvases', 'n_train': n_train, 'n_test': n_test, 'seed': seed}
    root = Path(root)
    if _is_complete(root, recipe):
        return root
    split_rng, train_rng, test_rng = _generators(seed, 3)
    train, test = split_digits(split_rng)
    with _final_folder(root, recipe) as folder:
        for name in ('JPEGImages', 'Annotations', 'ImageSets/Main'):
            (folder / name).mkdir(parents=True)
        for index in progress(range(n_train + n_test)):
            digits, rng = (train, train_rng) if index < n_train else (test, test_rng)
            _write_canvas(folder, f'{index:06d}', digits, rng)
        first_val = n_train - max(1, round(n_train * _VAL_SHARE))
        _write_list(folder, 'train', range(first_val))
        _write_list(folder, 'val', range(first_val, n_train))
        _write_list(folder, 'trainval', range(n_train))
        _write_list(folder, 'test', range(n_train, n_train + n_test))
    return root


def write_single_digits(root: str | Path, seed: int = 0) -> Path:
    """Write each source digit as one image, ``{train,test}/<class>/<index>.png``.

    The digits are enlarged to 32 x 32 grey pixels. With equal seeds the split is the one behind
    the canvases of `write_digits`.

    Raises:
        ValueError: The folder holds a set of other settings.
        FileExistsError: The folder holds something else.
    """
    recipe = {'set': 'single digits', 'seed': seed}
    root = Path(root)
    if _is_complete(root, recipe):
        return root
    splits = split_digits(_generators(seed, 1)[0])
    with _final_folder(root, recipe) as folder:
        for split, digits in zip(('train', 'test'), splits, strict=True):
            for name, images in zip(CLASSES, digits, strict=True):
                target = folder / split / name
                target.mkdir(parents=True)
                for index, pixels in enumerate(images):
                    grey = np.minimum(pixels.astype(np.uint16) * 16, 255).astype(np.uint8)
                    image = Image.fromarray(grey)
                    image = image.resize((_SINGLE_SIDE,) * 2, Image.Resampling.BICUBIC)
                    image.save(target / f'{index:04d}.png')
    return root


def _generators(seed: int, count: int) -> list[np.random.Generator]:
    return [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(count)]


def _write_canvas(folder: Path, name: str, digits: Digits, rng: np.random.Generator) -> None:
    canvas, placed = draw_canvas(digits, draw_labels(rng), rng)
    Image.fromarray(canvas).save(folder / 'JPEGImages' / f'{name}.jpg', quality=_JPEG_QUALITY)
    tree = ET.ElementTree(_annotation(f'{name}.jpg', canvas.shape, placed))
    ET.indent(tree)
    tree.write(folder / 'Annotations' / f'{name}.xml', encoding='utf-8')


def _annotation(filename: str, shape: tuple[int, ...], placed: list[PlacedDigit]) -> ET.Element:
    """One VOC annotation; boxes count from 1 and include their last pixel, as in VOC."""
    root = ET.Element('annotation')
    ET.SubElement(root, 'folder').text = 'digits_voc'
    ET.SubElement(root, 'filename').text = filename
    height, width, depth = shape
    _add_numbers(root, 'size', {'width': width, 'height': height, 'depth': depth})
    ET.SubElement(root, 'segmented').text = '0'
    for digit in placed:
        item = ET.SubElement(root, 'object')
        ET.SubElement(item, 'name').text = CLASSES[digit.label]
        ET.SubElement(item, 'pose').text = 'Unspecified'
        ET.SubElement(item, 'truncated').text = str(int(digit.truncated))
        ET.SubElement(item, 'difficult').text = str(int(digit.difficult))
        left, top, right, bottom = digit.box
        corners = {'xmin': left + 1, 'ymin': top + 1, 'xmax': right, 'ymax': bottom}
        _add_numbers(item, 'bndbox', corners)
    return root


def _add_numbers(parent: ET.Element, name: str, numbers: dict[str, int]) -> None:
    group = ET.SubElement(parent, name)
    for key, value in numbers.items():
        ET.SubElement(group, key).text = str(value)


def _write_list(folder: Path, split: str, indices: range) -> None:
    lines = ''.join(f'{index:06d}\n' for index in indices)
    (folder / 'ImageSets' / 'Main' / f'{split}.txt').write_text(lines, encoding='utf-8')


def _is_complete(root: Path, recipe: dict) -> bool:
    """Whether the folder holds exactly this set; an absent folder is fine, another set is not."""
    if not root.exists():
        return False
    if not (root / _RECIPE).is_file():
        raise FileExistsError(
            f'{root} exists but is no digit set; name another folder or move it away'
        )
    found = parse_json((root / _RECIPE).read_bytes())
    if found != recipe:
        raise ValueError(
            f'{root} was built with {found}, but {recipe} is asked for; '
            'delete the folder to build it anew, or name another one'
        )
    return True


@contextmanager
def _final_folder(root: Path, recipe: dict) -> Iterator[Path]:
    """Give a scratch folder that becomes ``root`` when the block ends without an exception."""
    check_writable(root)
    try:
        with new_folder(root) as scratch:
            yield scratch
            (scratch / _RECIPE).write_text(json.dumps(recipe) + '\n', encoding='utf-8')
    except FileExistsError:
        # Another process was first: its set must be the same one.
        if not _is_complete(root, recipe):
            raise
