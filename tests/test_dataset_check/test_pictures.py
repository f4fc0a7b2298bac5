"""Facts and oddities of single pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mmshufflemix.dataset_check.pictures import inspect_picture, picture_oddities
from tests.test_dataset_check.folders import smooth

PLAIN = smooth(0)


def save(path: Path, image: Image.Image, **options: Any) -> str:
    image.save(path, **options)
    return str(path)


def kinds(path: str) -> list[str]:
    return [kind for kind, _ in picture_oddities(inspect_picture(path))]


def test_an_ordinary_picture_has_no_oddity(tmp_path: Path) -> None:
    path = save(tmp_path / 'a.jpg', PLAIN)
    picture = inspect_picture(path)
    assert (picture.fault, picture.width, picture.height, picture.mode) == (None, 80, 64, 'RGB')
    assert kinds(path) == []


def grey_16() -> Image.Image:
    return Image.fromarray(np.arange(80 * 64, dtype=np.uint16).reshape(64, 80) * 12)


@pytest.mark.parametrize(
    ('name', 'image', 'options', 'expected'),
    [
        ('a.png', PLAIN.convert('L'), {}, ['grey']),
        ('a.png', PLAIN.convert('1'), {}, ['grey']),
        ('a.jpg', PLAIN.convert('CMYK'), {}, ['cmyk']),
        ('a.png', PLAIN.convert('RGBA'), {}, ['alpha']),
        ('a.png', PLAIN.convert('LA'), {}, ['grey', 'alpha']),
        ('a.png', PLAIN.convert('P'), {'transparency': 3}, ['alpha']),
        ('a.png', PLAIN.convert('P'), {}, []),
        ('a.png', grey_16(), {}, ['grey', 'deep']),
        ('a.png', PLAIN.resize((31, 40)), {}, ['tiny']),
        ('a.png', PLAIN.resize((400, 40)), {}, ['long']),
        ('a.png', Image.new('RGB', (40, 40), 'red'), {}, ['flat']),
        ('a.gif', PLAIN, {'save_all': True, 'append_images': [smooth(1)]}, ['animated']),
    ],
)
def test_oddities(
    tmp_path: Path, name: str, image: Image.Image, options: dict, expected: list[str]
) -> None:
    assert kinds(save(tmp_path / name, image, **options)) == expected


def test_exif_rotation(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    path = save(tmp_path / 'a.jpg', PLAIN, exif=exif)
    assert list(picture_oddities(inspect_picture(path))) == [('rotated', 'orientation 6')]


def test_huge(tmp_path: Path) -> None:
    path = save(tmp_path / 'a.png', Image.new('1', (8000, 5001)))
    assert 'huge' in kinds(path)


@pytest.mark.parametrize('ending', ['jpg', 'png', 'webp', 'gif'])
def test_cut_off_files_are_found(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f'a.{ending}'
    PLAIN.save(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    picture = inspect_picture(str(path))
    assert picture.fault
    assert not picture.missing


def test_other_files_and_none(tmp_path: Path) -> None:
    (tmp_path / 'a.jpg').write_text('no picture')
    (tmp_path / 'b.jpg').mkdir()
    assert inspect_picture(str(tmp_path / 'a.jpg')).fault == 'no known picture format'
    assert inspect_picture(str(tmp_path / 'b.jpg')).fault == 'it is a folder'
    assert inspect_picture(str(tmp_path / 'c.jpg')).fault == 'no such file'
    assert inspect_picture(None).missing


def test_digest_is_that_of_the_pixels(tmp_path: Path) -> None:
    png = inspect_picture(save(tmp_path / 'a.png', PLAIN))
    webp = inspect_picture(save(tmp_path / 'a.webp', PLAIN, lossless=True))
    memory = inspect_picture(np.asarray(PLAIN))
    assert png.digest == webp.digest == memory.digest
    changed = np.array(PLAIN)
    changed[3, 5, 1] ^= 1
    assert inspect_picture(changed).digest != png.digest
    # As many pixels in another shape are another picture.
    assert inspect_picture(np.asarray(PLAIN).reshape(80, 64, 3)).digest != png.digest
