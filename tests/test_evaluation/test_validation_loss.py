"""Validation loss against PyTorch's losses of the logits, and in real runs."""

from __future__ import annotations

import json
import math
import os
import uuid
from pathlib import Path
from typing import Any

import pytest
import torch
from mmengine.hooks import Hook
from mmengine.runner import Runner
from mmpretrain.registry import MODELS
from torch import distributed
from torch.nn import functional as F

from mmshufflemix.evaluation import ValidationLoss
from mmshufflemix.evaluation.multi_label_sample import read_sample
from mmshufflemix.evaluation.validation_loss import log_loss
from tests.integration.tiny import job as single_job
from tests.test_evaluation.probability_samples import evaluate, multi_samples, single_samples
from tests.test_hooks.test_label_graph_hook import job as multi_job

LINEAR = {'type': 'MultiLabelLinearClsHead', 'num_classes': 3, 'in_channels': 32}


def drawn(classes: int = 5, size: int = 13) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    logits = 3 * torch.randn(size, classes, generator=generator)
    return logits, torch.rand(size, classes, generator=generator) < 0.3


def test_single_label_is_the_training_loss() -> None:
    logits, _ = drawn()
    labels = torch.arange(13) % 5
    got = evaluate(ValidationLoss('single-label'), single_samples(logits, labels))
    expected = MODELS.build({'type': 'CrossEntropyLoss'})(logits, labels, avg_factor=13)
    assert got == {'val/loss': pytest.approx(expected.item(), rel=1e-5)}


@pytest.mark.parametrize('weight', [1.0, 1 / 5])
def test_multi_label_is_the_training_loss(weight: float) -> None:
    logits, targets = drawn()
    metric = ValidationLoss('multi-label', loss_weight=weight)
    got = evaluate(metric, multi_samples(logits.sigmoid(), targets))
    config = {'type': 'CrossEntropyLoss', 'use_sigmoid': True, 'loss_weight': weight}
    expected = MODELS.build(config)(logits, targets.float(), avg_factor=13)
    assert got['val/loss'] == pytest.approx(expected.item(), rel=1e-4)


def test_by_hand_without_the_difficult_cell() -> None:
    samples = multi_samples([[0.5, 0.25, 0.9]], [[1, 0, 0]], [[0, 0, 1]])
    got = evaluate(ValidationLoss('multi-label'), samples)
    assert got['val/loss'] == pytest.approx(-math.log(0.5) - math.log(0.75))


@pytest.mark.parametrize('logit', [-60.0, -20, -9, -1, 0, 1, 5, 9])
@pytest.mark.parametrize('positive', [True, False])
def test_the_error_of_float32_scores_is_as_stated(logit: float, positive: bool) -> None:
    scores = torch.tensor([logit]).sigmoid()
    cells = read_sample({'pred_score': scores, 'gt_label': [0] if positive else []}, 'x', ['a'])
    target = torch.tensor(float(positive), dtype=torch.float64)
    exact = F.binary_cross_entropy_with_logits(torch.tensor(logit).double(), target).item()
    bound = max(1e-6, math.exp(logit) * 2.0**-24)
    assert log_loss(cells, 'multi-label') == pytest.approx(exact, rel=bound, abs=bound)


@pytest.mark.parametrize(
    ('score', 'positive', 'loss'),
    [(1.0, False, 24 * math.log(2)), (0.0, True, 126 * math.log(2)), (1.0, True, 0.0)],
)
def test_saturated_scores_have_a_finite_loss(score: float, positive: bool, loss: float) -> None:
    got = evaluate(ValidationLoss('multi-label'), multi_samples([[score]], [[positive]]))
    assert got['val/loss'] == pytest.approx(loss)


@pytest.mark.parametrize(
    ('task', 'sample', 'message'),
    [
        ('multi-label', {'pred_score': [0.2, 1.5], 'gt_label': [0]}, 'from 0.2 to 1.5, expected p'),
        ('multi-label', {'pred_score': [0.2, -3.0], 'gt_label': [0]}, 'values from -3 to 0.2'),
        ('single-label', {'pred_score': [0.9, 0.8], 'gt_label': [0]}, 'scores that add up to 1.7'),
        ('single-label', {'pred_score': [0.5, 0.5], 'gt_label': [0, 1]}, 'sample 0 has 2 labels'),
        ('single-label', {'pred_score': [0.5, 0.5], 'gt_label': [2]}, 'distinct class ids 0..1'),
        ('multi-label', {'pred_score': [float('nan')], 'gt_label': []}, 'are NaN'),
    ],
)
def test_samples_that_do_not_fit_are_refused(task: str, sample: dict, message: str) -> None:
    sample = {key: torch.tensor(value) for key, value in sample.items()}
    with pytest.raises(ValueError, match=message):
        ValidationLoss(task).process(None, [sample])


def test_another_task_is_refused() -> None:
    with pytest.raises(ValueError, match="one of 'single-label', 'multi-label', got 'both'"):
        ValidationLoss('both')
    with pytest.raises(ValueError, match='no sample was evaluated'):
        ValidationLoss('multi-label').compute_metrics([])


class Exact(Hook):
    """The model's own loss of every validation image, by another forward pass."""

    def __init__(self) -> None:
        self.seen: list[float] = []
        self.metrics: list[dict] = []

    def before_val_epoch(self, runner: Runner) -> None:
        losses = []
        runner.model.eval()
        with torch.no_grad():
            for batch in runner.val_dataloader:
                data = runner.model.data_preprocessor(batch, False)
                loss = runner.model(**data, mode='loss')['loss']
                losses += [loss.item()] * len(data['inputs'])
        self.seen.append(sum(losses) / len(losses))

    def after_val_epoch(self, runner: Runner, metrics: Any = None) -> None:
        self.metrics.append(dict(metrics))


def train(config: Any) -> tuple[Runner, Exact]:
    config.experiment_name = uuid.uuid4().hex
    runner, exact = Runner.from_cfg(config), Exact()
    runner.register_hook(exact)
    runner.train()
    return runner, exact


def logged(work_dir: Path) -> list[float]:
    """What the newest log says of each validation."""
    newest = max(work_dir.glob('*/vis_data/scalars.json'), key=os.path.getmtime)
    rows = [json.loads(line) for line in newest.read_text().splitlines()]
    return [row['val/loss'] for row in rows if 'val/loss' in row]


def test_a_run_of_single_labels(tmp_path: Path) -> None:
    evaluator = [dict(type='Accuracy', topk=(1,)), dict(type='ValidationLoss', task='single-label')]
    config = single_job(tmp_path, 'mmshufflemix.ShuffleMix', 4, val_evaluator=evaluator)
    config.model.train_cfg = {'augments': {'type': 'ShuffleMix'}}
    config.default_hooks = {'checkpoint': {'type': 'CheckpointHook', 'save_best': 'val/loss'}}
    runner, exact = train(config)
    losses = [metrics['val/loss'] for metrics in exact.metrics]
    assert losses == pytest.approx(exact.seen, rel=1e-5)
    assert len(set(losses)) == 4
    assert all('accuracy/top1' in metrics for metrics in exact.metrics)
    # MMEngine would average the last ten values.
    assert logged(tmp_path) == pytest.approx(losses)
    assert runner.message_hub.get_info('best_score') == min(losses)
    best = tmp_path / f'best_val_loss_epoch_{1 + losses.index(min(losses))}.pth'
    assert best.is_file()


@pytest.mark.parametrize('head', ['linear', 'MLGCN'])
def test_a_run_of_several_labels(tmp_path: Path, head: str) -> None:
    config = multi_job(tmp_path)
    # The training set of the job without difficult objects, so that both losses see the same.
    config.val_dataloader.dataset.update(split='trainval', indices=[0, 2, 3])
    config.val_evaluator = [{'type': 'MultiLabelReport'}, {'type': 'ValidationLoss'}]
    config.val_evaluator[1].task = 'multi-label'
    if head == 'linear':
        config.model.head = LINEAR
        config.custom_hooks = [{'type': 'PosWeightHook'}]
        loss = {'type': 'CrossEntropyLoss', 'use_sigmoid': True, 'pos_weight': 'auto'}
        config.model.head = {**LINEAR, 'loss': loss}
    plain = {'type': 'CrossEntropyLoss', 'use_sigmoid': True}

    class Plain(Exact):
        def before_val_epoch(self, runner: Runner) -> None:
            head = runner.model.head
            own, head.loss_module = head.loss_module, MODELS.build(plain)
            super().before_val_epoch(runner)
            head.loss_module = own

    runner, exact = Runner.from_cfg(config), Plain()
    runner.register_hook(exact)
    runner.train()
    losses = [metrics['val/loss'] for metrics in exact.metrics]
    assert losses == pytest.approx(exact.seen, rel=1e-5)
    assert all('multi-label/mAP' in metrics for metrics in exact.metrics)


def test_it_changes_no_prediction_and_no_training(tmp_path: Path) -> None:
    states, accuracies = [], []
    for extra in ([], [{'type': 'ValidationLoss', 'task': 'single-label'}]):
        evaluator = [{'type': 'Accuracy', 'topk': (1,)}, *extra]
        runner, exact = train(single_job(tmp_path, None, 1, val_evaluator=evaluator))
        states.append(runner.model.state_dict())
        accuracies.append(exact.metrics[0]['accuracy/top1'])
    torch.testing.assert_close(states[0], states[1], rtol=0, atol=0)
    assert accuracies[0] == accuracies[1]


def evaluate_part(rank: int, folder: str) -> None:
    distributed.init_process_group(
        'gloo', init_method=f'file://{folder}/store', rank=rank, world_size=2
    )
    # MMEngine gathers results through a folder in the working directory.
    os.chdir(folder)
    logits, targets = drawn()
    samples = multi_samples(logits.sigmoid(), targets)
    # As a sampler hands them out: strided, the last round padded with the first sample.
    metric = ValidationLoss('multi-label')
    metric.process(None, [*samples, samples[0]][rank::2])
    Path(folder, f'{rank}.json').write_text(json.dumps(metric.evaluate(len(samples))))
    distributed.destroy_process_group()


@pytest.mark.slow
def test_two_processes_give_the_number_of_one(tmp_path: Path) -> None:
    logits, targets = drawn()
    expected = evaluate(ValidationLoss('multi-label'), multi_samples(logits.sigmoid(), targets))
    torch.multiprocessing.spawn(evaluate_part, (str(tmp_path),), nprocs=2)
    for rank in range(2):
        got = json.loads((tmp_path / f'{rank}.json').read_text())
        assert got['val/loss'] == pytest.approx(expected['val/loss'])
