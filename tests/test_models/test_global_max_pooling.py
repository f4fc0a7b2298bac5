from __future__ import annotations

import pytest
import torch
from mmpretrain.registry import MODELS

from mmshufflemix.models import GlobalMaxPooling


@pytest.mark.parametrize(('dim', 'size'), [(1, (5,)), (2, (3, 4)), (2, (1, 1)), (3, (2, 3, 2))])
def test_maximum_over_all_positions(dim: int, size: tuple[int, ...]) -> None:
    x = torch.randn(2, 6, *size)
    pooled = MODELS.build({'type': 'GlobalMaxPooling', 'dim': dim})(x)
    expected = torch.tensor([[x[i, c].max().item() for c in range(6)] for i in range(2)])
    torch.testing.assert_close(pooled, expected)


def test_tuples_keep_their_length() -> None:
    features = (torch.randn(1, 2, 4, 4), torch.randn(1, 3, 2, 2))
    pooled = GlobalMaxPooling()(features)
    assert isinstance(pooled, tuple)
    assert [tuple(feature.shape) for feature in pooled] == [(1, 2), (1, 3)]


def test_the_gradient_goes_to_the_maximum() -> None:
    x = torch.tensor([[[[1.0, 5.0], [2.0, 3.0]]]], requires_grad=True)
    GlobalMaxPooling()(x).sum().backward()
    assert x.grad.tolist() == [[[[0, 1], [0, 0]]]]


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match='must be 1, 2 or 3, got 4'):
        GlobalMaxPooling(dim=4)
    with pytest.raises(ValueError, match=r'features with 4 axes, got the shape \(2, 8\)'):
        GlobalMaxPooling()(torch.zeros(2, 8))
    with pytest.raises(TypeError, match='a tensor or a tuple of tensors, got list'):
        GlobalMaxPooling()([torch.zeros(1, 2, 3, 3)])
