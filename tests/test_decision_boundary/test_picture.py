from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from mmshufflemix.decision_boundary import Outcome, PointSet, draw_boundaries, shade
from mmshufflemix.pictures import check_picture_file

WHITE = [1.0, 1.0, 1.0]


def halves(axis: int) -> Any:
    """Stand for a network that gives class 1 wherever a coordinate is positive."""

    def score(points: torch.Tensor, mode: str) -> torch.Tensor:
        coordinate = points[:, axis, 0, 0]
        return torch.stack([-20 * coordinate, 20 * coordinate], dim=1)

    return score


def outcome(method: str, num_classes: int = 2, model: Any = None, accuracy: float = 50) -> Outcome:
    points = PointSet(torch.ones(1, 2), torch.zeros(1, dtype=torch.long), num_classes)
    return Outcome(method, num_classes, 7, 99.0, accuracy, points, model)


def test_darkness_is_probability() -> None:
    colours = shade(np.array([[0.5, 0.5], [0.75, 0.25], [1, 0], [0, 1]]))
    assert colours[0].tolist() == WHITE
    # Half way from chance to certainty is half way from white to the darkest tint.
    np.testing.assert_allclose(colours[1], (colours[0] + colours[2]) / 2)
    red, _, blue = colours[2]
    assert blue > red
    red, _, blue = colours[3]
    assert red > blue
    np.testing.assert_allclose(shade(np.full((2, 2, 3), 1 / 3)), 1)
    assert shade(np.array([0.1, 0.1, 0.8])).argmax() == 1


@pytest.mark.parametrize(('axis', 'pixel_axis', 'sign'), [(0, 1, 1), (1, 0, -1)])
def test_the_plane_is_the_right_way_round(
    tmp_path: Path, axis: int, pixel_axis: int, sign: int
) -> None:
    path = tmp_path / 'new' / 'halves.png'
    draw_boundaries(path, [outcome('baseline', model=halves(axis))])
    pixels = np.asarray(Image.open(path).convert('RGB')).astype(int)
    # The key below the panels has the colours too.
    pixels = pixels[: int(0.7 * len(pixels))]
    difference = pixels[..., 2] - pixels[..., 0]
    first, second = np.argwhere(difference > 60), np.argwhere(difference < -60)
    assert min(len(first), len(second)) > 3000
    assert sign * (second.mean(axis=0) - first.mean(axis=0))[pixel_axis] > 50


def test_a_panel_for_each_method_and_a_row_for_each_set(tmp_path: Path) -> None:
    def three(points: torch.Tensor, mode: str) -> torch.Tensor:
        return torch.zeros(len(points), 3)

    shown = [
        outcome('baseline', model=halves(0), accuracy=61.26),
        outcome('shufflemix', model=halves(1), accuracy=62),
        outcome('best possible'),
        outcome('baseline', 3, three, accuracy=63),
        outcome('shufflemix', 3, three, accuracy=64),
    ]
    draw_boundaries(tmp_path / 'panels.svg', shown)
    content = (tmp_path / 'panels.svg').read_text()
    texts = ('61.3 %', '62.0 %', '63.0 %', '64.0 %', '2 classes', '3 classes', 'seed 7')
    assert all(f'<!-- {text} -->' in content for text in texts)
    assert content.count('<!-- ShuffleMix -->') == content.count('<!-- Baseline -->') == 2
    assert 'best possible' not in content


def test_the_default_figure_fits_a_page(tmp_path: Path) -> None:
    shown = [outcome('nfm', count, lambda p, mode: p.flatten(1)) for count in (2, 2, 2, 2, 2, 2)]
    draw_boundaries(tmp_path / 'wide.png', shown)
    picture = Image.open(tmp_path / 'wide.png')
    assert picture.size[0] / picture.info['dpi'][0] == pytest.approx(7, abs=0.05)


def test_unknown_formats_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    assert check_picture_file('figure.PDF') == 'pdf'
    with pytest.raises(ValueError, match=r'cannot write a picture to .*f\.doc; expected'):
        draw_boundaries(tmp_path / 'f.doc', [outcome('baseline', model=halves(0))])
    assert list(tmp_path.iterdir()) == []
