"""What users met when they changed a config."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from mmengine.config import Config
from mmengine.runner import Runner
from mmpretrain.models import AsymmetricLoss
from mmpretrain.registry import MODELS
from mmpretrain.structures import DataSample

from mmshufflemix.prepare import prepare_config, read_config
from tests.integration.recording import recorded_mixing, train
from tests.test_hooks.test_label_graph_hook import job
from tests.tiny_job import ROOT, write_job
from tests.tool_runner import run_tool


def test_an_augment_in_the_models_preprocessor_of_a_voc_config() -> None:
    """The images stay normalised and the labels multi-hot."""
    own = dict(batch_augments=dict(augments=dict(type='InputMixup', alpha=1)))
    path = ROOT / 'configs' / 'voc07' / 'resnet18_baseline_224.py'
    cfg = read_config(str(path), {'model.data_preprocessor': own})
    cfg = prepare_config(cfg)
    preprocessor = MODELS.build({'type': 'ClsDataPreprocessor', **cfg.model.data_preprocessor})
    mean, std = torch.tensor(cfg.data_preprocessor.mean), torch.tensor(cfg.data_preprocessor.std)
    images = torch.full((2, 3, 4, 4), 100, dtype=torch.uint8)
    samples = [DataSample().set_gt_label([3, 7]) for _ in range(2)]
    data = preprocessor(dict(inputs=images, data_samples=samples), training=True)
    torch.testing.assert_close(data['inputs'][0, :, 0, 0], (100 - mean) / std)
    assert data['data_samples'][0].gt_score.nonzero().flatten().tolist() == [3, 7]
    assert len(data['data_samples'][0].gt_score) == 20


@pytest.mark.parametrize(
    'name', ['voc07/mlgcn_shufflemix', 'cifar100/preact18_nfm', 'custom/mlgcn_lite0_shufflemix']
)
def test_a_config_can_be_written_and_read_again(name: str, tmp_path: Path) -> None:
    cfg = Config.fromfile(ROOT / 'configs' / f'{name}.py')
    cfg.dump(tmp_path / 'dumped.py')
    assert Config.fromfile(tmp_path / 'dumped.py').to_dict() == cfg.to_dict()


def test_mixing_stops_and_the_loss_changes_together(tmp_path: Path) -> None:
    schedule = [dict(action_epoch=2, batch_augments=None, loss=dict(type='AsymmetricLoss'))]
    hooks = [dict(type='LabelGraphHook'), dict(type='SwitchRecipeHook', schedule=schedule)]

    def run(**options: Any) -> list[tuple[int, int]]:
        cfg = job(tmp_path, custom_hooks=hooks, **options)
        cfg.experiment_name = f'{tmp_path.name}_{len(options)}'
        runner, log = train(cfg)
        assert isinstance(runner.model.head.loss_module, AsymmetricLoss)
        return log.counts()

    assert run(train_cfg__max_epochs=2) == [(1, 1)] * 2 + [(2, 0)] * 2
    assert run(train_cfg__max_epochs=4, resume=True) == [(3, 0)] * 2 + [(4, 0)] * 2


def test_a_resumed_run_does_not_replay_lambda(tmp_path: Path) -> None:
    config, lams = write_job(tmp_path), []
    for folder, options in (
        ('whole', ['train_cfg.max_epochs=2']),
        ('parts', ['train_cfg.max_epochs=1']),
        ('parts', ['train_cfg.max_epochs=2']),
    ):
        with recorded_mixing() as plans:
            resume = ['--work-dir', tmp_path / folder, '--resume']
            run_tool('train', config, *resume, '--cfg-options', *options)
        lams.append([plan.lam for plan in plans])
    whole, first, second = lams
    assert len(set(whole)) == len(whole) == 6
    assert first + second == whole


def test_a_list_cannot_be_the_best_score(tmp_path: Path) -> None:
    """MMEngine takes the first key for ``'auto'``, here the list of all classes."""
    checkpoint = dict(type='SafeCheckpointHook', save_best='auto', rule='greater')
    cfg = job(tmp_path, default_hooks=dict(checkpoint=checkpoint))
    precision = dict(type='AveragePrecision')
    cfg.val_evaluator = [dict(**precision, average=None), precision]
    message = r"save_best='auto' means 'multi-label/AP_classwise', .*one of: multi-label/mAP\."
    with pytest.raises(ValueError, match=message):
        Runner.from_cfg(cfg).train()
