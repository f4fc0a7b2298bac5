from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mmshufflemix.datasets.digits import CLASSES, draw_canvas, draw_labels, split_digits


def _rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture(scope='module')
def digits() -> list[np.ndarray]:
    return split_digits(_rng())[0]


def test_split_uses_every_source_digit_exactly_once():
    source = load_digits()
    train, test = split_digits(_rng())
    for label in range(len(CLASSES)):
        images = source.images[source.target == label].astype(np.uint8)
        both = np.concatenate([train[label], test[label]])
        assert sorted(image.tobytes() for image in both) == sorted(
            image.tobytes() for image in images
        )
        assert len(test[label]) == round(0.3 * len(images))


def test_split_depends_on_the_generator_only():
    first, again, other = (split_digits(_rng(seed))[1][3] for seed in (5, 5, 6))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_companions_occur_together_and_others_rarely():
    rng = _rng()
    sets = [set(draw_labels(rng)) for _ in range(4000)]
    for label in range(len(CLASSES)):
        having = [labels for labels in sets if label in labels]
        for other in set(range(len(CLASSES))) - {label}:
            share = sum(other in labels for labels in having) / len(having)
            if other == label ^ 1:
                assert share > 0.6
            else:
                assert share < 0.2


def test_canvases_have_two_to_four_labels():
    rng = _rng()
    assert {len(draw_labels(rng)) for _ in range(100)} == {2, 3, 4}


def test_same_generator_state_gives_the_same_canvas(digits: list[np.ndarray]):
    first, placed = draw_canvas(digits, [1, 2, 3], _rng(7))
    again, placed_again = draw_canvas(digits, [1, 2, 3], _rng(7))
    assert np.array_equal(first, again)
    assert placed == placed_again


def test_canvas_form_and_digit_order(digits: list[np.ndarray]):
    canvas, placed = draw_canvas(digits, [4, 4, 9], _rng(1), size=96)
    assert canvas.shape == (96, 96, 3)
    assert canvas.dtype == np.uint8
    assert [digit.label for digit in placed] == [4, 4, 9]


def test_boxes_lie_inside_and_do_not_overlap(digits: list[np.ndarray]):
    rng = _rng(2)
    for _ in range(100):
        _, placed = draw_canvas(digits, draw_labels(rng), rng)
        covered = np.zeros((64, 64), dtype=int)
        assert placed
        for digit in placed:
            left, top, right, bottom = digit.box
            assert 0 <= left < right <= 64
            assert 0 <= top < bottom <= 64
            covered[top:bottom, left:right] += 1
        assert covered.max() == 1


def test_boxes_hold_the_ink():
    """A full square stands out from what surrounds its box."""
    solid = [np.full((1, 8, 8), 16, dtype=np.uint8)] * 10
    for seed in range(20):
        canvas, placed = draw_canvas(solid, [0], _rng(seed))
        left, top, right, bottom = placed[0].box
        if placed[0].difficult:
            continue
        middle = canvas[top + 4 : bottom - 4, left + 4 : right - 4].mean(axis=(0, 1))
        ring = canvas.astype(float).copy()
        ring[top:bottom, left:right] = np.nan
        near = ring[max(top - 3, 0) : bottom + 3, max(left - 3, 0) : right + 3]
        assert np.abs(middle - np.nanmean(near, axis=(0, 1))).max() > 40


def test_about_one_digit_in_twelve_is_difficult_and_cut_ones_touch_the_border(
    digits: list[np.ndarray],
):
    rng = _rng(3)
    placed = [digit for _ in range(400) for digit in draw_canvas(digits, [0, 1, 2], rng)[1]]
    share = np.mean([digit.difficult for digit in placed])
    assert 0.05 < share < 0.11
    cut = [digit for digit in placed if digit.truncated]
    assert cut
    assert all(digit.difficult for digit in cut)
    assert all(digit.box[0] == 0 or digit.box[2] == 64 for digit in cut)
    assert any(digit.difficult and not digit.truncated for digit in placed)
