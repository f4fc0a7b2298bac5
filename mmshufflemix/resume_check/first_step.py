"""Whether an optimizer can take a step from the state in a checkpoint."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from copy import copy, deepcopy
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from mmshufflemix.resume_check.optimizer import WAY_OUT

__all__ = ['check_first_step']


def check_first_step(optimizer: Optimizer, state: Mapping[str, Any]) -> None:
    """Try a step of one weight, with a copy of the optimizer.

    Optimizers of several classes, such as Adam and Adamax, have the same settings, but keep other
    things for each weight. PyTorch gives them each other's state without a word.

    Args:
        optimizer: The one that will get the state; it is left as it is.
        state: State of an optimizer with as many weights, in as many groups; it is left as it is.

    Raises:
        ValueError: If the state lacks what the step asks it for.
    """
    try:
        trial = _trial(optimizer, state)
        if trial is not None:
            trial.step()
    except KeyError as error:
        raise ValueError(
            f'the checkpoint is of another optimizer, which has no {error} of the weights, so that '
            f'training cannot go on with it (optim_wrapper.optimizer.type); {WAY_OUT}.'
        ) from error
    except Exception:
        # An optimizer that cannot be tried like this: nothing is known.
        return


def _trial(optimizer: Optimizer, state: Mapping[str, Any]) -> Optimizer | None:
    """Make an optimizer of the first weight that has a state, with this state."""
    kept = state.get('state') or {}
    for old, new in zip(state['param_groups'], optimizer.param_groups, strict=True):
        for number, weight in zip(old['params'], new['params'], strict=True):
            if not kept.get(number):
                continue
            alone = nn.Parameter(torch.zeros_like(weight, device='cpu'))
            alone.grad = torch.zeros_like(alone)
            # Not by its class, which may take other arguments than the settings.
            trial = copy(optimizer)
            trial.state = defaultdict(dict)
            trial.param_groups = [{**new, 'params': [alone]}]
            group = {**old, 'params': [0]}
            trial.load_state_dict(deepcopy({'state': {0: kept[number]}, 'param_groups': [group]}))
            return trial
    return None
