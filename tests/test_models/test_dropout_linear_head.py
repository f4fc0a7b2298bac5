from __future__ import annotations

import pytest
import torch
from mmpretrain.registry import MODELS

from mmshufflemix.models import DropoutLinearClsHead

SHAPE = dict(num_classes=3, in_channels=64)


def test_drops_in_training_and_scales_the_rest() -> None:
    head = DropoutLinearClsHead(**SHAPE, dropout=0.2)
    torch.manual_seed(0)
    dropped = head.train().pre_logits((torch.zeros(2, 64), torch.ones(1000, 64)))
    assert set(dropped.unique().tolist()) == {0.0, 1.25}
    # The standard deviation of the share is 0.0016.
    assert (dropped == 0).float().mean().item() == pytest.approx(0.2, abs=0.01)


def test_is_the_linear_head_otherwise() -> None:
    plain = MODELS.build(dict(type='LinearClsHead', **SHAPE))
    head = MODELS.build(dict(type='DropoutLinearClsHead', **SHAPE)).eval()
    head.load_state_dict(plain.state_dict(), strict=True)
    features = (torch.randn(5, 64),)
    assert torch.equal(head(features), plain(features))


def test_scores_in_training_come_from_dropped_features() -> None:
    head = DropoutLinearClsHead(**SHAPE, dropout=0.9).train()
    features = (torch.randn(5, 64),)
    torch.manual_seed(0)
    expected = torch.nn.functional.linear(
        torch.dropout(features[0], 0.9, True), head.fc.weight, head.fc.bias
    )
    torch.manual_seed(0)
    torch.testing.assert_close(head(features), expected)


@pytest.mark.parametrize('rate', [-0.1, 1, 2])
def test_refuses_other_rates(rate: float) -> None:
    with pytest.raises(ValueError, match=r'dropout must lie in \[0, 1\), got'):
        DropoutLinearClsHead(**SHAPE, dropout=rate)
