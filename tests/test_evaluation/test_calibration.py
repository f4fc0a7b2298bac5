"""Calibration against explicit loops, hand cases, scikit-learn, and in real runs."""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from mmengine.runner import Runner
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss
from torch import distributed

from mmshufflemix.evaluation import CalibrationReport
from mmshufflemix.evaluation.calibration_bins import calibration_bins
from mmshufflemix.evaluation.reliability_plot import draw_reliability
from tests.integration.tiny import job as single_job
from tests.test_evaluation.probability_samples import evaluate, multi_samples, single_samples
from tests.test_hooks.test_label_graph_hook import job as multi_job


def loop_errors(scores: Any, outcomes: Any, bins: int) -> tuple[float, float]:
    """ECE and MCE, one bin after the other, from their definition."""
    expected, largest = 0.0, 0.0
    for index in range(bins):
        low, high = index / bins, (index + 1) / bins
        inside = [
            (float(score), bool(outcome))
            for score, outcome in zip(scores, outcomes, strict=True)
            if low < score <= high or (index == 0 and score == 0)
        ]
        if inside:
            mean = sum(score for score, _ in inside) / len(inside)
            share = sum(outcome for _, outcome in inside) / len(inside)
            expected += len(inside) / len(scores) * abs(share - mean)
            largest = max(largest, abs(share - mean))
    return expected, largest


def drawn(seed: int, size: int = 60, classes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.random((size, classes)).astype(np.float32), rng.random((size, classes)) < 0.3


def test_bins_by_hand() -> None:
    bins = calibration_bins(np.array([0.0, 0.25, 0.3, 0.5, 1.0]), np.array([0, 1, 0, 1, 1]), bins=4)
    assert bins.counts.tolist() == [2, 2, 0, 1]
    np.testing.assert_allclose(bins.confidence, [0.125, 0.4, np.nan, 1])
    np.testing.assert_allclose(bins.frequency, [0.5, 0.5, np.nan, 1])
    assert bins.expected_error == pytest.approx(2 / 5 * 0.375 + 2 / 5 * 0.1)
    assert bins.largest_error == pytest.approx(0.375)
    assert bins.rows()[2] == {
        'from': 0.5,
        'to': 0.75,
        'count': 0,
        'confidence': None,
        'frequency': None,
    }


@pytest.mark.parametrize('bins', [1, 2, 7, 15])
@pytest.mark.parametrize('seed', range(3))
def test_bins_are_those_of_scikit_learn(bins: int, seed: int) -> None:
    scores, outcomes = (array[:, 0] for array in drawn(seed))
    found = calibration_bins(scores, outcomes, bins)
    frequency, confidence = calibration_curve(outcomes, scores, n_bins=bins)
    filled = found.counts > 0
    np.testing.assert_allclose(found.frequency[filled], frequency)
    np.testing.assert_allclose(found.confidence[filled], confidence)
    assert (found.expected_error, found.largest_error) == pytest.approx(
        loop_errors(scores, outcomes, bins)
    )


def test_no_predictions_have_no_error() -> None:
    bins = calibration_bins(np.zeros(0), np.zeros(0))
    assert np.isnan([bins.expected_error, bins.largest_error]).all()


@pytest.mark.parametrize('seed', range(3))
def test_single_labels_by_loops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    logits, labels = 2 * rng.standard_normal((50, 4)), rng.integers(0, 4, 50)
    samples = single_samples(logits, labels)
    got = evaluate(CalibrationReport('single-label', bins=8, per_class=True), samples, 'abcd')
    scores = np.stack([sample['pred_score'].double().numpy() for sample in samples])
    ece, mce = loop_errors(scores.max(axis=1), scores.argmax(axis=1) == labels, 8)
    by_class = [loop_errors(scores[:, k], labels == k, 8)[0] for k in range(4)]
    brier = sum((scores[n, k] - (labels[n] == k)) ** 2 for n in range(50) for k in range(4))
    assert got == {
        'calibration/ECE': pytest.approx(ece),
        'calibration/MCE': pytest.approx(mce),
        'calibration/classwise_ECE': pytest.approx(np.mean(by_class)),
        'calibration/Brier': pytest.approx(brier / 50),
        **{f'calibration/ECE_{"abcd"[k]}': pytest.approx(by_class[k]) for k in range(4)},
    }


@pytest.mark.parametrize('seed', range(3))
def test_several_labels_by_loops_without_difficult_cells(seed: int) -> None:
    scores, targets = drawn(seed)
    difficult = ~targets & (np.random.default_rng(seed + 9).random(targets.shape) < 0.2)
    difficult[:, 3] = ~targets[:, 3]
    metric = CalibrationReport('multi-label', bins=5, per_class=True)
    got = evaluate(metric, multi_samples(scores, targets, difficult), ['a', 'b', 'c', 'd'])
    keep = ~difficult
    ece, mce = loop_errors(scores[keep], targets[keep], 5)
    by_class = [loop_errors(scores[keep[:, k], k], targets[keep[:, k], k], 5)[0] for k in range(4)]
    assert got['calibration/ECE'] == pytest.approx(ece)
    assert got['calibration/MCE'] == pytest.approx(mce)
    assert got['calibration/classwise_ECE'] == pytest.approx(np.mean(by_class))
    assert [got[f'calibration/ECE_{name}'] for name in 'abcd'] == pytest.approx(by_class)
    brier = brier_score_loss(targets[keep], scores[keep])
    assert got['calibration/Brier'] == pytest.approx(brier)


def test_a_class_without_a_valid_cell_has_no_value() -> None:
    samples = multi_samples([[0.5, 0.9]] * 3, [[1, 0]] * 3, [[0, 1]] * 3)
    got = evaluate(CalibrationReport('multi-label', per_class=True), samples, 'ab')
    assert got['calibration/classwise_ECE'] == got['calibration/ECE_a'] == pytest.approx(0.5)
    assert 'calibration/ECE_b' not in got
    only = multi_samples([[0.9]], [[0]], [[1]])
    with pytest.raises(ValueError, match='all cells of the 1 samples are difficult'):
        evaluate(CalibrationReport('multi-label'), only)


def calibrated(power: float, size: int = 20000) -> list[dict]:
    """Labels that are drawn with the probability p, and the scores p^power."""
    rng = np.random.default_rng(0)
    truth = rng.random((size // 4, 4))
    return multi_samples(truth**power, rng.random(truth.shape) < truth)


def test_scores_that_are_the_probabilities_have_no_error() -> None:
    right = evaluate(CalibrationReport('multi-label'), calibrated(1))
    assert right['calibration/ECE'] < 0.015
    assert right['calibration/MCE'] < 0.05
    # The mean of p (1 - p).
    assert right['calibration/Brier'] == pytest.approx(1 / 6, abs=0.005)
    wrong = evaluate(CalibrationReport('multi-label'), calibrated(2))
    # The mean of p - p^2.
    assert wrong['calibration/ECE'] == pytest.approx(1 / 6, abs=0.01)


def test_softmax_of_drawn_labels_is_calibrated() -> None:
    generator = torch.Generator().manual_seed(0)
    logits = 2 * torch.randn(8000, 5, generator=generator)
    labels = torch.multinomial(logits.softmax(1), 1, generator=generator)[:, 0]
    right = evaluate(CalibrationReport('single-label'), single_samples(logits, labels))
    sharper = evaluate(CalibrationReport('single-label'), single_samples(3 * logits, labels))
    assert right['calibration/ECE'] < 0.02
    assert right['calibration/classwise_ECE'] < 0.02
    assert sharper['calibration/ECE'] > 0.15
    assert sharper['calibration/Brier'] > right['calibration/Brier']


@pytest.mark.parametrize('bins', [0, -1, 2.0, True, None])
def test_other_bins_are_refused(bins: Any) -> None:
    with pytest.raises(ValueError, match='bins must be an integer of at least 1'):
        CalibrationReport('multi-label', bins=bins)


def test_no_samples_are_refused() -> None:
    with pytest.raises(ValueError, match='no sample was evaluated'):
        CalibrationReport('multi-label').compute_metrics([])


@pytest.mark.parametrize('task', ['single-label', 'multi-label'])
def test_the_plot_has_bars_where_the_bins_are(tmp_path: Path, task: str) -> None:
    bins = calibration_bins(np.array([0.1, 0.1, 0.9]), np.array([0, 1, 1]), 2)
    draw_reliability(tmp_path / 'plot.png', bins, task)
    pixels = plt.imread(tmp_path / 'plot.png')
    # C0, the colour of the bars: the left one is half as high as the right one.
    blue = np.abs(pixels[..., :3] - [0.12, 0.47, 0.71]).max(axis=2) < 0.03
    columns = np.flatnonzero(blue.any(axis=0))
    middle = (columns[0] + columns[-1]) // 2
    left, right = blue[:, : middle - 20].any(axis=1), blue[:, middle + 20 :].any(axis=1)
    assert left.sum() / right.sum() == pytest.approx(0.5, abs=0.03)
    with pytest.raises(ValueError, match='cannot write a picture'):
        draw_reliability(tmp_path / 'plot.xyz', bins, task)


def test_a_run_of_single_labels_writes_the_files(tmp_path: Path) -> None:
    report = dict(type='CalibrationReport', task='single-label', out_dir=str(tmp_path / 'out'))
    evaluator = [dict(type='Accuracy', topk=(1,)), report]
    config = single_job(tmp_path, None, 1, val_evaluator=evaluator)
    saving = {'type': 'CheckpointHook', 'save_best': 'calibration/ECE', 'rule': 'less'}
    config.default_hooks = {'checkpoint': saving}
    runner = Runner.from_cfg(config)
    runner.train()
    content = json.loads((tmp_path / 'out' / 'calibration.json').read_text())
    assert content['images'] == content['predictions'] == 24
    assert sum(row['count'] for row in content['bins']) == 24
    assert content['metrics']['ECE'] == runner.message_hub.get_info('best_score')
    assert (tmp_path / 'best_calibration_ECE_epoch_1.pth').is_file()
    assert (tmp_path / 'out' / 'reliability.png').stat().st_size > 5000
    confidence = sum((row['confidence'] or 0) * row['count'] for row in content['bins']) / 24
    right = sum((row['frequency'] or 0) * row['count'] for row in content['bins']) / 24
    accuracy = runner.message_hub.get_scalar('val/accuracy/top1').current()
    assert right == pytest.approx(accuracy / 100)
    assert 0.1 < confidence < 1


def test_a_test_of_several_labels(tmp_path: Path) -> None:
    off = dict.fromkeys(
        ('train_dataloader', 'train_cfg', 'optim_wrapper', 'val_dataloader', 'val_cfg')
    )
    config = multi_job(tmp_path, **off, val_evaluator=None, experiment_name=uuid.uuid4().hex)
    config.model.head = {'type': 'MultiLabelLinearClsHead', 'num_classes': 3, 'in_channels': 32}
    config.custom_hooks = []
    report = {'type': 'CalibrationReport', 'task': 'multi-label', 'per_class': True}
    loss = {'type': 'ValidationLoss', 'task': 'multi-label', 'prefix': 'test'}
    config.test_evaluator = [{'type': 'MultiLabelReport'}, report, loss]
    metrics = Runner.from_cfg(config).test()
    assert {f'calibration/ECE_{name}' for name in ('cat', 'dog', 'person')} <= metrics.keys()
    assert 0 < metrics['calibration/ECE'] < 1
    assert metrics['test/loss'] > 0
    assert 'multi-label/mAP' in metrics


def evaluate_part(rank: int, folder: str) -> None:
    distributed.init_process_group(
        'gloo', init_method=f'file://{folder}/store', rank=rank, world_size=2
    )
    # MMEngine gathers results through a folder in the working directory.
    os.chdir(folder)
    scores, targets = drawn(0, size=11)
    samples = multi_samples(scores, targets)
    metric = CalibrationReport('multi-label', out_dir='out')
    metric.process(None, [*samples, samples[0]][rank::2])
    Path(folder, f'{rank}.json').write_text(json.dumps(metric.evaluate(len(samples))))
    distributed.destroy_process_group()


@pytest.mark.slow
def test_two_processes_give_the_numbers_of_one(tmp_path: Path) -> None:
    expected = evaluate(CalibrationReport('multi-label'), multi_samples(*drawn(0, size=11)))
    torch.multiprocessing.spawn(evaluate_part, (str(tmp_path),), nprocs=2)
    for rank in range(2):
        got = json.loads((tmp_path / f'{rank}.json').read_text())
        assert got == pytest.approx(expected)
    assert json.loads((tmp_path / 'out' / 'calibration.json').read_text())['images'] == 11
