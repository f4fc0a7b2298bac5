from __future__ import annotations

from copy import deepcopy

import pytest
from mmengine.config import Config

from mmshufflemix.prepare import prepare_config
from mmshufflemix.setting_kinds import check_kinds

_RIGHT = {
    'model': {'head': {'num_classes': 3}},
    'load_from': 'a.pth',
    'randomness': {'seed': 2**32 - 1},
    'train_cfg': {'max_epochs': 5.0, 'val_interval': 10**9},
    'val_cfg': {},
    'test_cfg': None,
    'train_dataloader': {'batch_size': 1, 'num_workers': 0},
    'optim_wrapper': {'accumulative_counts': 2, 'optimizer': {'lr': 1, 'weight_decay': 0.0}},
}


def test_right_kinds_and_none_at_all_pass():
    check_kinds(_RIGHT)
    check_kinds({})
    check_kinds({'train_dataloader': {'batch_size': None}, 'randomness': {'seed': None}})


@pytest.mark.parametrize(
    ('name', 'value', 'expected'),
    [
        ('load_from', 5, 'the name of a file'),
        ('randomness', 3, 'a dict of settings'),
        ('randomness.seed', 'x', 'a whole number from 0 below'),
        ('randomness.seed', 2**32, 'a whole number from 0 below'),
        ('model', 'resnet', 'a dict of settings'),
        ('model.head.num_classes', 'a', 'a whole number from 1'),
        ('model.head.num_classes', 0, 'a whole number from 1'),
        ('model.head.num_classes', True, 'a whole number from 1'),
        ('train_cfg', 1, 'a dict of settings'),
        ('train_cfg.max_epochs', 'abc', 'a whole number from 0'),
        ('train_cfg.max_epochs', 2.5, 'a whole number from 0'),
        ('train_cfg.max_epochs', -1, 'a whole number from 0'),
        ('train_cfg.val_interval', 0, 'a whole number from 1'),
        ('train_cfg.val_interval', float('inf'), 'a whole number from 1'),
        ('train_dataloader', [2], 'a dict of settings'),
        ('train_dataloader.batch_size', 0, 'a whole number from 1'),
        ('train_dataloader.num_workers', -1, 'a whole number from 0'),
        ('optim_wrapper.accumulative_counts', 0, 'a whole number from 1'),
        ('optim_wrapper.optimizer.lr', '0,1', 'a number from 0'),
        ('optim_wrapper.optimizer.lr', float('nan'), 'a number from 0'),
        ('optim_wrapper.optimizer.weight_decay', -0.1, 'a number from 0'),
    ],
)
def test_another_kind_is_named(name, value, expected):
    cfg = Config(deepcopy(_RIGHT))
    cfg.merge_from_dict({name: value})
    with pytest.raises(ValueError, match=f'^{name} must be {expected}.*, got ') as failure:
        prepare_config(cfg)
    assert str(failure.value).endswith(f'got {value!r}.')
