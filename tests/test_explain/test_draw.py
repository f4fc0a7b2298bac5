"""Pictures with heat maps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from PIL import Image

from mmshufflemix.explain import HeatMaps
from mmshufflemix.explain.draw import draw_heat_maps
from mmshufflemix.layers import LayerSite


def heat(count: int, size: tuple[int, int] = (60, 90)) -> HeatMaps:
    maps = np.zeros((count, *size), np.float32)
    maps[:, 10:30, 10:30] = 1
    return HeatMaps(
        picture=np.full((*size, 3), 200, np.uint8),
        names=[f'$class_{k}$' for k in range(count)],
        scores=[0.9] * count,
        reached=[True] * count,
        maps=maps,
        seen=(0, 0, size[1], size[0]),
        unknown=(),
        layer=LayerSite('backbone', 8, 1),
        grid=(3, 4),
    )


def drawn(path: Path, heat: HeatMaps, asked: bool = False) -> np.ndarray:
    draw_heat_maps(path, heat, 'gradcam', asked)
    with Image.open(path) as picture:
        return np.asarray(picture.convert('RGB')).astype(int)


@pytest.mark.parametrize(('count', 'rows', 'columns'), [(1, 1, 2), (2, 1, 3), (5, 2, 3), (8, 3, 3)])
def test_three_panels_in_a_row(count: int, rows: int, columns: int, tmp_path: Path) -> None:
    image = drawn(tmp_path / 'p.png', heat(count))
    single = drawn(tmp_path / 'q.png', heat(1))
    panel = single.shape[1] / 2
    assert image.shape[1] == pytest.approx(columns * panel, abs=0.15 * panel)
    assert image.shape[0] > 0.7 * rows * single.shape[0]
    # Only the map is red; each class has one patch of it.
    red = (image[..., 0] > 100) & (image[..., 1] < 110) & (image[..., 2] < 110)
    edges = np.diff(np.pad(red.any(axis=0).astype(int), 1))
    assert (edges == 1).sum() >= columns - 1
    assert 0.5 < red.sum() / count / (0.05 * panel * panel) < 2


def test_every_remark_shows(tmp_path: Path) -> None:
    plain = heat(1)
    first = drawn(tmp_path / 'a.png', plain)
    for other, asked in (
        (replace(plain, reached=[False]), False),
        (replace(plain, reached=[False]), True),
        (plain, True),
        (replace(plain, maps=plain.maps * 0), False),
        (replace(plain, seen=(20, 5, 70, 55)), False),
        (replace(plain, unknown=('RandomFlip',)), False),
        (replace(plain, names=['a very long name of a class ' * 4]), False),
    ):
        image = drawn(tmp_path / 'b.png', other, asked)
        assert image.shape[1] == first.shape[1]
        assert image.shape != first.shape or (image != first).any()


@pytest.mark.parametrize(
    ('asked', 'reached', 'remark'),
    [
        (False, True, None),
        (False, False, 'highest, below its threshold'),
        (True, True, 'predicted'),
        (True, False, 'not predicted, below its threshold'),
    ],
)
def test_a_panel_says_whether_its_class_is_predicted(
    asked: bool, reached: bool, remark: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remarks = []
    monkeypatch.setattr(Axes, 'annotate', lambda axes, text, *args, **options: remarks.append(text))
    draw_heat_maps(tmp_path / 'p.png', replace(heat(1), reached=[reached]), 'gradcam', asked)
    assert remarks == ([remark] if remark else [])


@pytest.mark.parametrize('size', [(40, 900), (900, 40), (500, 500)])
def test_slim_pictures_can_be_drawn(size: tuple[int, int], tmp_path: Path) -> None:
    image = drawn(tmp_path / 'p.png', heat(3, size))
    assert 100 < image.shape[0] < 1000
    assert 500 < image.shape[1] < 1200
