"""Features of any layout as maps."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from mmshufflemix.explain.layout import extra_tokens, feature_maps, token_grid


@pytest.mark.parametrize(
    ('count', 'size', 'grid'),
    [
        (49, (224, 224), (7, 7)),
        (24, (64, 96), (4, 6)),
        (24, (96, 64), (6, 4)),
        (12, (48, 64), (3, 4)),
        # Strides that do not divide the size, rounded up and down.
        (35, (75, 100), (5, 7)),
        (6, (50, 70), (2, 3)),
        (50, (224, 224), None),
        (13, (64, 96), None),
        (0, (64, 64), None),
        (-1, (64, 64), None),
    ],
)
def test_tokens_form_a_grid(count: int, size: tuple[int, int], grid: tuple[int, int]) -> None:
    assert token_grid(count, *size) == grid


@pytest.mark.parametrize('extra', [0, 1, 2])
def test_every_layout_gives_the_same_maps(extra: int) -> None:
    maps = torch.randn(2, 5, 4, 6)
    size = (64, 96)
    tokens = maps.flatten(2).transpose(1, 2)
    with_extra = torch.cat([torch.full((2, extra, 5), 9.0), tokens], dim=1)
    for feature, axis in (
        (maps, 1),
        (maps.permute(0, 2, 3, 1), 3),
        (with_extra, 2),
        # Before the class token joins.
        (tokens, 2),
    ):
        found = feature_maps(feature, axis, size, extra)
        assert torch.equal(found, maps)
        found.zero_()
        assert feature.any()


@pytest.mark.parametrize(
    ('shape', 'axis', 'reason'),
    [
        ((2, 8), 1, 'have no positions'),
        ((2, 8, 1, 1), 1, 'have a single position'),
        ((2, 3, 4, 4, 4), 1, 'have no positions'),
        ((2, 11, 8), 2, '11 tokens do not form a grid over an input of 64 x 64'),
    ],
)
def test_other_features_are_refused(shape: tuple[int, ...], axis: int, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        feature_maps(torch.ones(shape), axis, (64, 64), 1)


def test_extra_tokens_are_those_that_the_backbone_counts() -> None:
    model = nn.Sequential(nn.Linear(2, 2))
    assert extra_tokens(model) == 0
    model[0].num_prefix_tokens = 3
    assert extra_tokens(model) == 3
