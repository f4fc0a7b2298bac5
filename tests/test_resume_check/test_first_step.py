"""The tried step against PyTorch's own one from the state of another optimizer."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import LBFGS, SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, NAdam, Optimizer, RAdam

from mmshufflemix.resume_check.first_step import check_first_step


class Renamed(Adam):
    """Has something that copies of an optimizer lack."""

    def __init__(self, weights: Any, name: str) -> None:
        super().__init__(weights)
        self.name = name

    def step(self, closure: Any = None) -> None:
        raise KeyError(self.name)


def trained(kind: type[Optimizer], **settings: Any) -> Optimizer:
    """Take a step with two weights, of which one has no gradient."""
    weights = [nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(3, 2))]
    optimizer = kind(weights, **{'lr': 0.1, **settings})
    weights[1].grad = torch.ones(3, 2)
    optimizer.step()
    return optimizer


KINDS = [SGD, Adam, AdamW, Adamax, NAdam, RAdam, Adagrad, Adadelta]


@pytest.mark.parametrize('new', KINDS)
@pytest.mark.parametrize('old', KINDS)
def test_it_is_refused_where_the_settings_do_and_the_state_fails(
    old: type[Optimizer], new: type[Optimizer]
) -> None:
    state, optimizer = trained(old).state_dict(), trained(new)
    # As if the settings were all there: they are compared before.
    for group in state['param_groups']:
        for name, value in optimizer.defaults.items():
            group.setdefault(name, value)
    real = trained(new)
    try:
        real.load_state_dict(deepcopy(state))
        for weight in real.param_groups[0]['params']:
            weight.grad = torch.ones_like(weight)
        real.step()
    except KeyError as error:
        with pytest.raises(ValueError, match=f'of another optimizer, which has no {error} of the'):
            check_first_step(optimizer, state)
    else:
        check_first_step(optimizer, state)


def test_nothing_is_changed() -> None:
    state, optimizer = trained(Adam).state_dict(), trained(AdamW)
    before, now, seed = deepcopy(state), deepcopy(optimizer.state_dict()), torch.get_rng_state()
    check_first_step(optimizer, state)
    assert repr(state) == repr(before)
    assert repr(optimizer.state_dict()) == repr(now)
    assert torch.equal(torch.get_rng_state(), seed)


@pytest.mark.parametrize('content', [None, {}, {0: {}, 1: None}])
def test_without_a_state_nothing_is_known(content: Any) -> None:
    check_first_step(trained(Adamax), {**trained(Adam).state_dict(), 'state': content})


def test_an_optimizer_that_cannot_be_tried_is_let_through() -> None:
    check_first_step(Renamed([nn.Parameter(torch.ones(2))], 'a'), trained(Adam).state_dict())
    state = trained(Adam).state_dict()
    check_first_step(LBFGS([nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(3))]), state)


def test_a_switch_in_the_checkpoint_stays_in_force() -> None:
    for old, new in ((False, True), (True, False)):
        check_first_step(trained(Adam, amsgrad=new), trained(Adam, amsgrad=old).state_dict())
