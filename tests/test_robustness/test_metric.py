from __future__ import annotations

from typing import Any

import pytest
import torch
from mmengine.evaluator import Evaluator
from mmpretrain.evaluation import Accuracy, SingleLabelMetric
from mmpretrain.models.heads import LinearClsHead

from mmshufflemix.robustness import Batch, EvaluatorMetric, TopOne, choose_metric
from tests.integration.tiny import batch, build_model


class OwnHead(LinearClsHead):
    def predict(self, *args: Any, **kwargs: Any) -> Any:
        return super().predict(*args, **kwargs)


def prepared(model: Any, seed: int) -> Batch:
    data = model.data_preprocessor(batch(seed=seed), False)
    return Batch(data['inputs'], data['data_samples'])


def test_the_quick_accuracy_is_the_evaluators() -> None:
    model = build_model().eval()
    quick, slow = TopOne(), EvaluatorMetric(Evaluator(Accuracy(topk=(1, 5))))
    top_five = EvaluatorMetric(Evaluator(Accuracy(topk=(1, 5))), 'accuracy/top5')
    collected: dict[Any, list[Any]] = {quick: [], slow: [], top_five: []}
    hits, count = 0, 0
    with torch.no_grad():
        for seed in range(5):
            part = prepared(model, seed)
            for metric, parts in collected.items():
                parts.append(metric.collect(model, part.images, part))
            scores = model.head(model.extract_feat(part.images)).tolist()
            for row, sample in zip(scores, part.samples, strict=True):
                hits += row.index(max(row)) == int(sample.gt_label)
                count += 1
    numbers = {metric: metric.finish(parts) for metric, parts in collected.items()}
    assert numbers[quick] == pytest.approx(100 * hits / count)
    assert numbers[slow] == pytest.approx(100 * hits / count)
    assert numbers[top_five] > numbers[quick]
    assert quick.name == slow.name == 'accuracy/top1'


def test_predictions_outlive_the_next_level() -> None:
    """The samples of a batch are the same objects at each level."""
    model = build_model().eval()
    metric = EvaluatorMetric(Evaluator(Accuracy()))
    part = prepared(model, 0)
    with torch.no_grad():
        first = metric.collect(model, part.images, part)
        kept = [sample['pred_score'].clone() for sample in first]
        metric.collect(model, part.images + 1, part)
    assert all(torch.equal(a['pred_score'], b) for a, b in zip(first, kept, strict=True))


def test_the_choice() -> None:
    model = build_model()

    def choice(*metrics: Any, name: str | None = None) -> type:
        return type(choose_metric(model, Evaluator(list(metrics)), name))

    assert choice(Accuracy()) is TopOne
    assert choice(Accuracy(topk=(1, 5)), SingleLabelMetric()) is TopOne
    assert choice(Accuracy(topk=(5, 1)), name='accuracy/top1') is TopOne
    assert choice(Accuracy(topk=(5, 1))) is EvaluatorMetric
    assert choice(Accuracy(topk=5)) is EvaluatorMetric
    assert choice(Accuracy(thrs=(0.5,))) is EvaluatorMetric
    assert choice(Accuracy(prefix='mine')) is EvaluatorMetric
    assert choice(SingleLabelMetric()) is EvaluatorMetric
    assert choice(Accuracy(topk=(1, 5)), name='accuracy/top5') is EvaluatorMetric
    model.head = OwnHead(num_classes=10, in_channels=64)
    assert choice(Accuracy()) is EvaluatorMetric


def test_an_unknown_number() -> None:
    model = build_model().eval()
    metric = EvaluatorMetric(Evaluator(Accuracy()), 'accuracy/top7')
    part = prepared(model, 0)
    with torch.no_grad():
        collected = [metric.collect(model, part.images, part)]
    with pytest.raises(ValueError, match="no 'accuracy/top7'; choose one of accuracy/top1"):
        metric.finish(collected)
