from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from mmengine.runner import Runner

from mmshufflemix.hooks import TrainCheckHook
from tests.test_hooks.test_label_graph_hook import job

LINEAR = {'type': 'MultiLabelLinearClsHead', 'num_classes': 3, 'in_channels': 32}


def train(folder: Path, **options: Any) -> Runner:
    """Train a plain multi-label job with the hook."""
    config = job(folder, custom_hooks=[], experiment_name=uuid.uuid4().hex)
    config.model.head = LINEAR
    config.merge_from_dict({key.replace('__', '.'): value for key, value in options.items()})
    runner = Runner.from_cfg(config)
    runner.register_hook(TrainCheckHook())
    runner.train()
    return runner


def test_what_fits_is_trained(tmp_path: Path) -> None:
    assert train(tmp_path).iter == 4


def test_training_by_iterations_has_no_epochs_to_fill(tmp_path: Path) -> None:
    by_iteration = {'_delete_': True, 'by_epoch': False, 'max_iters': 3, 'val_interval': 3}
    assert train(tmp_path, train_cfg=by_iteration).iter == 3


def test_training_needs_no_validation(tmp_path: Path) -> None:
    off = {'val_dataloader': None, 'val_cfg': None, 'val_evaluator': None}
    assert train(tmp_path, **off).iter > 0


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (
            {'train_dataloader__batch_size': 9, 'train_dataloader__drop_last': True},
            'its 4 images do not fill one of 9; lower train_dataloader.batch_size',
        ),
        (
            {'model__head__num_classes': 5, 'data_preprocessor__num_classes': 5},
            'the training set has 3 classes but the head has num_classes=5',
        ),
        (
            {'data_preprocessor__num_classes': 5},
            r'num_classes=5 but the head has num_classes=3; set data_preprocessor\.num_classes=3',
        ),
        ({'data_preprocessor__num_classes': None}, 'has num_classes=None but the head'),
        (
            {'val_dataloader__dataset__metainfo__classes': ('dog', 'cat', 'person')},
            "same classes in another order, starting with 'cat' and 'dog'",
        ),
        (
            {'val_dataloader__dataset__metainfo__classes': ('cat', 'dog', 'person', 'cow')},
            'training set has 3 classes but the validation set has 4',
        ),
    ],
)
def test_what_does_not_fit_is_refused_before_the_first_step(
    tmp_path: Path, options: dict, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        train(tmp_path, **options)
    assert not list((tmp_path / 'work').glob('*.pth'))
