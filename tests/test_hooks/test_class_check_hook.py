from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from mmshufflemix.hooks import ClassCheckHook
from mmshufflemix.hooks.class_check_hook import check_fit


def runner(classes: list[str], model: nn.Module) -> Any:
    loader = SimpleNamespace(dataset=SimpleNamespace(metainfo={'classes': classes}))
    return SimpleNamespace(train_dataloader=loader, test_dataloader=loader, model=model, cfg={})


def checkpoint(classes: list[str], model: nn.Module) -> dict[str, Any]:
    return {'meta': {'dataset_meta': {'classes': classes}}, 'state_dict': model.state_dict()}


def test_missing_weights_are_those_of_the_model_alone():
    small, large = nn.Sequential(nn.Linear(2, 2)), nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    check_fit(small, large.state_dict())
    with pytest.raises(ValueError, match=r'lacks 2 weights of this model \(1\.weight, 1\.bias\)'):
        check_fit(large, small.state_dict())
    wrapped = {f'module.{name}': value for name, value in large.state_dict().items()}
    check_fit(large, wrapped)


@pytest.mark.parametrize(('split', 'end'), [('test', 'config.'), ('train', 'another --work-dir.')])
def test_a_checkpoint_of_another_model_is_refused(split, end):
    with pytest.raises(
        ValueError, match=r'lacks 2 weights of this model \(1\.weight, 1\.bias\)'
    ) as e:
        ClassCheckHook(split).after_load_checkpoint(
            runner(['a', 'b'], nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))),
            checkpoint(['a', 'b'], nn.Sequential(nn.Linear(2, 2))),
        )
    assert str(e.value).endswith(end)


@pytest.mark.parametrize(
    ('split', 'name'),
    [('test', 'test set'), ('val', 'validation set'), ('train', 'training set')],
)
def test_a_checkpoint_of_other_classes_is_refused(split, name):
    model = nn.Linear(2, 2)
    hook = ClassCheckHook(split)
    with pytest.raises(ValueError, match=rf'trained on 2 classes \(a, b\) and the {name} has 3'):
        hook.after_load_checkpoint(runner(['a', 'b', 'c'], model), checkpoint(['a', 'b'], model))
    hook.after_load_checkpoint(runner(['a', 'b'], model), checkpoint(['a', 'b'], model))


class Wrapped(nn.Module):
    """As the class of MMEngine that averages views: the model is its ``module``."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.module = model


@pytest.mark.parametrize(('split', 'end'), [('test', 'config.'), ('train', 'another --work-dir.')])
def test_weights_of_other_shapes_are_refused(split, end, monkeypatch):
    monkeypatch.setattr('mmshufflemix.hooks.train_check_hook.BaseTTAModel', Wrapped)
    part = r'1 weights .* have other shapes .* \(1\.weight \(4, 3\) for \(4, 2\)\), so another'
    model, other = (nn.Sequential(nn.ReLU(), nn.Linear(n, 4)) for n in (2, 3))
    plain = {'state_dict': other.state_dict()}
    prefixed = {f'module.{name}': value for name, value in other.state_dict().items()}
    # Both wrappers, where processes test with augmentation.
    twice = Wrapped(Wrapped(model))
    for network, given in ((model, plain), (model, prefixed), (twice, plain)):
        with pytest.raises(ValueError, match=part) as e:
            ClassCheckHook(split).after_load_checkpoint(runner([], network), given)
        assert str(e.value).endswith(end)
        ClassCheckHook(split).after_load_checkpoint(
            runner([], network), {'state_dict': model.state_dict()}
        )


def test_weights_that_the_model_itself_fits_are_kept():
    """As the positions of a transformer, from a checkpoint for pictures of another size."""

    class Positions(nn.Module):
        def __init__(self, number: int) -> None:
            super().__init__()
            self.table = nn.Parameter(torch.zeros(number))
            self._register_load_state_dict_pre_hook(self.fit)

        def fit(self, state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
            state_dict[f'{prefix}table'] = state_dict[f'{prefix}table'][: len(self.table)]

    weights = nn.Sequential(Positions(5)).state_dict()
    check_fit(nn.Sequential(Positions(3)), weights)
    assert len(weights['0.table']) == 5
    with pytest.raises(ValueError, match=r'0\.table \(5,\) for \(6,\)'):
        check_fit(nn.Sequential(Positions(6)), weights)
