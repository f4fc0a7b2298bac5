"""Weights of positives: by hand, and in real runs of the four-picture job."""

from __future__ import annotations

import json
import math
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from mmengine.config import Config
from mmengine.logging import MMLogger
from mmengine.runner import Runner
from mmpretrain.registry import DATASETS, MODELS
from torch import distributed, nn

from mmshufflemix.hooks.pos_weight_hook import PosWeightHook, positive_weights
from mmshufflemix.inference.build import build_model
from tests.test_hooks.test_label_graph_hook import free_port, job, log  # noqa: F401

# Of 4 images cat and person (once only difficult, which is trained on) are in 3, dog is in 1.
WEIGHTS = [1 / 3, 3.0, 1 / 3]
LINEAR = {'type': 'MultiLabelLinearClsHead', 'num_classes': 3, 'in_channels': 32}
CSRA = {'type': 'CSRAClsHead', 'num_classes': 3, 'in_channels': 32, 'num_heads': 1, 'lam': 0.1}


def auto_job(
    folder: Path, pos_weight: Any = 'auto', head: dict | None = None, **options: Any
) -> Config:
    """The job of the label graph with the weights asked for; ML-GCN, or another head."""
    hooks = [{'type': 'PosWeightHook'}]
    if head is None:
        hooks.append({'type': 'LabelGraphHook'})
    name = uuid.uuid4().hex
    fixed = {'custom_hooks': hooks, 'experiment_name': name, 'randomness': {'seed': 1}}
    config = job(folder, **{**fixed, **options})
    if head is not None:
        config.model.head = head
    config.model.head.loss = {
        'type': 'CrossEntropyLoss',
        'use_sigmoid': True,
        'pos_weight': pos_weight,
    }
    return config


def trained(config: Config) -> Runner:
    runner = Runner.from_cfg(config)
    runner.train()
    return runner


class Parts:
    """As much of a runner as the hook reads."""

    def __init__(self, dataset: Any, pos_weight: Any = 'auto', use_sigmoid: bool = True) -> None:
        loss = {'type': 'CrossEntropyLoss', 'use_sigmoid': use_sigmoid, 'pos_weight': pos_weight}
        self.model = nn.Sequential(MODELS.build(loss))
        self.train_dataloader = self
        self.dataset = DATASETS.build(dataset) if isinstance(dataset, dict) else dataset
        self.logger = MMLogger.get_current_instance()


def filled(dataset: Any, *args: Any) -> list[float]:
    """The weights that the hook puts in place."""
    parts = Parts(dataset, *args)
    PosWeightHook().before_train(parts)
    return parts.model[0].pos_weight


def voc_set(folder: Path, **options: Any) -> dict[str, Any]:
    """The training set of the job."""
    return {**job(folder).train_dataloader.dataset, **options}


def test_weights_by_hand() -> None:
    counts = np.array([1, 5, 10, 0, 2])
    assert positive_weights(counts, 10).tolist() == [9, 1, 0.01, 1, 4]
    assert positive_weights(counts, 10, limit=4).tolist() == [4, 1, 0.25, 1, 4]
    assert positive_weights(counts, 10, power=0.5).tolist() == [3, 1, 0.01, 1, 2]
    assert positive_weights(counts, 10, power=0).tolist() == [1] * 5


@pytest.mark.parametrize('seed', range(5))
def test_positives_and_negatives_of_a_class_weigh_the_same(seed: int) -> None:
    targets = np.random.default_rng(seed).random((50, 6)) < [0.1, 0.2, 0.4, 0.5, 0.7, 0.9]
    weights = positive_weights(targets.sum(axis=0), 50)
    np.testing.assert_allclose((weights * targets).sum(axis=0), (~targets).sum(axis=0))


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'power': 1.5}, 'power of pos_weight must be from 0 to 1, got 1.5'),
        ({'power': -1}, 'power of pos_weight must be from 0 to 1, got -1'),
        ({'limit': 0.5}, 'limit of pos_weight must be a number of at least 1, got 0.5'),
        ({'limit': math.inf}, 'a number of at least 1, got inf'),
    ],
)
def test_what_is_out_of_range_is_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        positive_weights(np.ones(3), 4, **options)


@pytest.mark.parametrize('head', [None, LINEAR, CSRA], ids=['MLGCN', 'linear', 'CSRA'])
def test_every_head_trains_with_the_weights_of_the_training_set(
    tmp_path: Path,
    head: dict | None,
    log: Any,  # noqa: F811
) -> None:
    options = {} if head is not CSRA else {'model__neck': None}
    runner = trained(auto_job(tmp_path, head=head, **options))
    loss = runner.model.head.loss_module
    assert loss.pos_weight == pytest.approx(WEIGHTS)
    tables = [line for line in log.messages if line.startswith("pos_weight='auto'")]
    assert tables == [
        "pos_weight='auto' from the 4 images of the training set:\n"
        'class   positives  pos_weight\n'
        'cat             3       0.333\n'
        'dog             1       3.000\n'
        'person          3       0.333'
    ]
    logits, targets = torch.randn(5, 3), torch.rand(5, 3)
    positive, negative = logits.sigmoid().log(), (-logits).sigmoid().log()
    cells = torch.tensor(WEIGHTS) * targets * positive + (1 - targets) * negative
    torch.testing.assert_close(loss(logits, targets, avg_factor=5), -cells.sum() / 5)


def test_training_equals_one_with_the_numbers_in_the_config(tmp_path: Path) -> None:
    auto, by_hand = (
        trained(auto_job(tmp_path, weights, LINEAR)).model.state_dict()
        for weights in ('auto', WEIGHTS)
    )
    torch.testing.assert_close(auto, by_hand)


def test_arguments_of_the_rule(tmp_path: Path) -> None:
    dataset = voc_set(tmp_path)
    clipped = filled(dataset, {'type': 'auto', 'power': 0.5, 'limit': 1.5})
    assert clipped == pytest.approx([2 / 3, 1.5, 2 / 3])
    root = filled(dataset, {'type': 'auto', 'power': 0.5})
    assert root == pytest.approx([3**-0.5, 3**0.5, 3**-0.5])


def test_the_rule_of_the_dataset_for_difficult_objects_counts(tmp_path: Path) -> None:
    assert filled(voc_set(tmp_path, difficult='negative')) == pytest.approx([1 / 3, 3, 1])


def test_a_class_without_positives_is_named(tmp_path: Path, log: Any) -> None:  # noqa: F811
    assert filled(voc_set(tmp_path, indices=2)) == pytest.approx([0.01, 1, 0.01])
    assert (
        '1 of 3 classes have no positive in the training set and keep pos_weight 1: dog.'
    ) in log.messages


def test_wrapped_sets_count_what_an_epoch_shows(tmp_path: Path) -> None:
    inner = voc_set(tmp_path)
    # The image with the dog comes twice, of 5.
    balanced = {'type': 'ClassBalancedDataset', 'oversample_thr': 0.5, 'dataset': inner}
    assert filled(balanced) == pytest.approx([1 / 4, 3 / 2, 2 / 3])
    joined = {'type': 'ConcatDataset', 'datasets': [inner, inner]}
    assert filled(joined) == pytest.approx(WEIGHTS)


def test_a_resumed_run_has_the_same_weights_and_numbers(tmp_path: Path) -> None:
    seeds = [{'type': 'PosWeightHook'}, {'type': 'EpochSeedHook'}]
    options = {'custom_hooks': seeds}
    whole = trained(auto_job(tmp_path, 'auto', LINEAR, **options))
    stopped = {**options, 'work_dir': str(tmp_path / 'stopped')}
    trained(auto_job(tmp_path, 'auto', LINEAR, train_cfg__max_epochs=1, **stopped))
    resumed = trained(auto_job(tmp_path, 'auto', LINEAR, resume=True, **stopped))
    assert resumed.epoch == 2
    assert resumed.model.head.loss_module.pos_weight == pytest.approx(WEIGHTS)
    torch.testing.assert_close(resumed.model.state_dict(), whole.model.state_dict())


def test_testing_and_inference_need_no_training_set(tmp_path: Path) -> None:
    config = auto_job(tmp_path, 'auto', LINEAR)
    runner = trained(config)
    before = runner.val_loop.run()
    checkpoint = str(tmp_path / 'work' / 'epoch_2.pth')
    training = dict.fromkeys(('train_dataloader', 'train_cfg', 'optim_wrapper'))
    config = auto_job(tmp_path, 'auto', LINEAR, load_from=checkpoint, **training)
    assert Runner.from_cfg(config).test() == before
    model = build_model(config, checkpoint, 'cpu')
    assert model.head.loss_module.pos_weight == 'auto'
    with torch.no_grad():
        [sample] = model.predict(torch.zeros(1, 3, 32, 32))
    assert sample.pred_score.shape == (3,)


@pytest.mark.parametrize(
    ('pos_weight', 'got'),
    [
        ('balanced', "'balanced'"),
        ({'power': 1}, "{'power': 1}"),
        ({'type': 'auto', 'cap': 3}, "{'type': 'auto', 'cap': 3}"),
    ],
)
def test_other_rules_are_refused(pos_weight: Any, got: str) -> None:
    with pytest.raises(ValueError, match="pos_weight must be 'auto', .* or a list") as caught:
        filled(None, pos_weight)
    assert str(caught.value).endswith(f'got {got}')


def test_a_loss_that_would_ignore_it_is_refused() -> None:
    with pytest.raises(ValueError, match="ignores pos_weight='auto' without use_sigmoid=True"):
        filled(None, 'auto', False)


def test_a_set_without_class_names_is_refused() -> None:
    with pytest.raises(
        ValueError, match="list names no classes, which pos_weight='auto' needs; set"
    ):
        filled([])


def test_models_without_it_are_left_alone() -> None:
    assert filled(None, [2.0]) == [2.0]
    assert filled(None, None) is None


def train_on_two(rank: int, folder: str, port: int) -> None:
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        for key, value in {
            'RANK': rank,
            'LOCAL_RANK': rank,
            'WORLD_SIZE': 2,
            'MASTER_PORT': port,
            'MASTER_ADDR': '127.0.0.1',
        }.items():
            patch.setenv(key, str(value))
        wrapper = {'type': 'MMDistributedDataParallel', 'device_ids': None}
        # Rank 1 has an outdated copy of the data.
        config = auto_job(
            Path(folder),
            'auto',
            LINEAR,
            launcher='pytorch',
            env_cfg={'dist_cfg': {'backend': 'gloo'}},
            model_wrapper_cfg={**wrapper, 'broadcast_buffers': False},
            train_dataloader__dataset__indices=4 - rank,
        )
        config.experiment_name = 'two'
        distributed.init_process_group('gloo')
        runner = trained(config)
        weights = runner.model.module.head.loss_module.pos_weight
        Path(folder, f'{rank}.json').write_text(json.dumps(weights))
        distributed.destroy_process_group()


@pytest.mark.slow
def test_two_processes_take_the_weights_of_the_first(tmp_path: Path) -> None:
    job(tmp_path)
    torch.multiprocessing.spawn(train_on_two, (str(tmp_path), free_port()), nprocs=2)
    for rank in range(2):
        weights = json.loads((tmp_path / f'{rank}.json').read_text())
        assert weights == pytest.approx(WEIGHTS)
