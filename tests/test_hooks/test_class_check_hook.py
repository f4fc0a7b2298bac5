from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from torch import nn

from mmshufflemix.hooks import ClassCheckHook
from mmshufflemix.hooks.class_check_hook import missing_weights


def runner(classes: list[str], model: nn.Module) -> Any:
    loader = SimpleNamespace(dataset=SimpleNamespace(metainfo={'classes': classes}))
    return SimpleNamespace(train_dataloader=loader, test_dataloader=loader, model=model, cfg={})


def checkpoint(classes: list[str], model: nn.Module) -> dict[str, Any]:
    return {'meta': {'dataset_meta': {'classes': classes}}, 'state_dict': model.state_dict()}


def test_missing_weights_are_those_of_the_model_alone():
    small, large = nn.Sequential(nn.Linear(2, 2)), nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    assert missing_weights(small, large.state_dict()) == []
    assert missing_weights(large, small.state_dict()) == ['1.weight', '1.bias']
    wrapped = {f'module.{name}': value for name, value in large.state_dict().items()}
    assert missing_weights(large, wrapped) == []


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
