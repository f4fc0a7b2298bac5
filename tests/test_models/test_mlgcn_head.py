from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from mmengine.runner.checkpoint import load_state_dict
from mmpretrain.registry import MODELS
from mmpretrain.structures import DataSample
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from mmshufflemix.label_graph import LabelGraph, make_label_graph, save_label_graph
from mmshufflemix.models import MLGCNHead

NAMES = ('cat', 'dog', 'fox', 'owl')
# Class 3 never occurs.
GRAPH: dict[str, Any] = {
    'classes': np.array(NAMES),
    'counts': np.array([10, 5, 4, 0]),
    'cooccurrence': np.array([[0, 5, 1, 0], [5, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]),
    'embeddings': np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32),
}


def build(label_graph: Any = None, **changes: Any) -> MLGCNHead:
    torch.manual_seed(0)
    arguments = {
        'type': 'MLGCNHead',
        'num_classes': 4,
        'in_channels': 8,
        'hidden_channels': 16,
        'embed_dim': 6,
        'label_graph': GRAPH if label_graph is None else label_graph,
    }
    return MODELS.build({**arguments, **changes})


def samples(labels: list[list[int]]) -> list[DataSample]:
    return [DataSample().set_gt_label(ids) for ids in labels]


def scores_by_loops(head: MLGCNHead, features: Tensor) -> list[list[float]]:
    """Scores written out: A relu(A E W1) W2 by sums over single numbers."""
    a, e = head.adjacency.double(), head.embeddings.double()
    w1, w2 = head.gcn1.weight.double(), head.gcn2.weight.double()

    def convolve(nodes: Tensor, weight: Tensor) -> Tensor:
        out = torch.zeros(len(nodes), weight.shape[1], dtype=torch.float64)
        for i in range(len(nodes)):
            for j in range(len(nodes)):
                for d in range(weight.shape[0]):
                    out[i] += a[i, j] * nodes[j, d] * weight[d]
        return out

    hidden = convolve(e, w1)
    hidden = torch.where(hidden > 0, hidden, 0.2 * hidden)
    classifiers = convolve(hidden, w2)
    return [[float((f.double() * c).sum()) for c in classifiers] for f in features]


def test_scores_equal_loops() -> None:
    head = build(threshold=0.2)
    features = torch.randn(3, 8)
    expected = torch.tensor(scores_by_loops(head, features))
    torch.testing.assert_close(head((features,)), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(head(features), expected, atol=1e-5, rtol=1e-5)


def test_weights_are_uniform_within_their_bound() -> None:
    head = MLGCNHead(4, 2048, GRAPH, embed_dim=6)
    for layer, channels in ((head.gcn1, 1024), (head.gcn2, 2048)):
        weight = layer.weight
        assert weight.shape[1] == channels
        assert weight.abs().max() <= channels**-0.5
        assert weight.std().item() == pytest.approx(channels**-0.5 / 3**0.5, rel=0.05)


def test_gradients_reach_weights_and_features_but_not_the_graph() -> None:
    head = build()
    features = torch.randn(3, 8, requires_grad=True)
    head.loss((features,), samples([[0], [1, 2], [3]]))['loss'].backward()
    assert [name for name, _ in head.named_parameters()] == ['gcn1.weight', 'gcn2.weight']
    for tensor in (*head.parameters(), features):
        assert tensor.grad is not None
        assert torch.isfinite(tensor.grad).all()
        assert tensor.grad.abs().sum() > 0
    assert [name for name, _ in head.named_buffers()] == ['adjacency', 'embeddings']
    assert not any(buffer.requires_grad for buffer in head.buffers())


def test_an_unseen_class_keeps_to_itself() -> None:
    head = build()
    assert head.adjacency[3].tolist() == [0, 0, 0, 1]
    assert torch.isfinite(head(torch.randn(2, 8))).all()


def test_identity_graph() -> None:
    head = build(threshold=2.0)
    torch.testing.assert_close(head.adjacency, torch.eye(4))
    hidden = nn.functional.leaky_relu(head.embeddings @ head.gcn1.weight, 0.2)
    torch.testing.assert_close(head.classifiers(), hidden @ head.gcn2.weight)


def test_classifiers_are_computed_once_in_eval(monkeypatch: pytest.MonkeyPatch) -> None:
    head = build().eval()
    calls = []
    branch = head._label_branch
    monkeypatch.setattr(head, '_label_branch', lambda: calls.append(1) or branch())
    with torch.no_grad():
        first, second = head(torch.ones(1, 8)), head(torch.ones(1, 8))
    torch.testing.assert_close(first, second)
    assert len(calls) == 1


@pytest.mark.parametrize('switch', [True, False])
def test_eval_after_a_training_step_is_up_to_date(switch: bool) -> None:
    """With and without leaving eval mode in between."""
    head = build().eval()
    features = torch.randn(2, 8)
    optimizer = torch.optim.SGD(head.parameters(), lr=1.0)
    with torch.no_grad():
        before = head(features)
    head.train(switch)
    head(features).square().sum().backward()
    optimizer.step()
    head.eval()
    with torch.no_grad():
        after = head(features)
    expected = torch.tensor(scores_by_loops(head, features))
    torch.testing.assert_close(after, expected, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(after, before)


@pytest.mark.parametrize('name', ['gcn1.weight', 'gcn2.weight', 'adjacency', 'embeddings'])
def test_eval_after_a_change_in_place_is_up_to_date(name: str) -> None:
    head = build().eval()
    features = torch.randn(2, 8)
    with torch.no_grad():
        before = head(features)
        head.state_dict()[name].mul_(-3)
        after = head(features)
    expected = torch.tensor(scores_by_loops(head, features))
    torch.testing.assert_close(after, expected, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(after, before)


def test_a_head_made_in_inference_mode_is_up_to_date() -> None:
    with torch.inference_mode():
        head = build().eval()
        before = head(torch.ones(1, 8))
        head.gcn2.weight.mul_(2)
        torch.testing.assert_close(head(torch.ones(1, 8)), 2 * before)


def test_a_compiled_head_in_eval_is_up_to_date() -> None:
    head = build().eval()
    compiled = torch.compile(lambda features: head(features), backend='eager', fullgraph=True)
    with torch.no_grad():
        before = compiled(torch.ones(1, 8))
        head.gcn2.weight.mul_(2)
        torch.testing.assert_close(compiled(torch.ones(1, 8)), 2 * before)


def test_tracing_a_head_in_eval() -> None:
    head, features = build().eval(), torch.randn(2, 8)
    with torch.no_grad():
        traced = torch.jit.trace(head, torch.ones(1, 8))
        torch.testing.assert_close(traced(features), head(features))


def test_eval_after_loading_and_casting_is_up_to_date() -> None:
    head, other = build().eval(), build()
    with torch.no_grad():
        for weight in other.parameters():
            weight.mul_(2)
        head(torch.ones(1, 8))
        head.load_state_dict(other.state_dict())
        torch.testing.assert_close(head(torch.ones(1, 8)), other(torch.ones(1, 8)))
        assert head.double()(torch.ones(1, 8).double()).dtype == torch.float64


def test_autocast_leaves_no_half_precision_behind() -> None:
    head = build().eval()
    features = torch.randn(2, 8)
    with torch.no_grad():
        with torch.autocast('cpu', dtype=torch.bfloat16):
            rough = head(features)
        exact = head(features)
    assert rough.dtype == torch.bfloat16
    assert exact.dtype == torch.float32
    torch.testing.assert_close(
        exact, torch.tensor(scores_by_loops(head, features)), atol=1e-5, rtol=1e-5
    )


def test_training_under_autocast_is_finite() -> None:
    head = build()
    with torch.autocast('cpu', dtype=torch.bfloat16):
        loss = head.loss((torch.randn(2, 8),), samples([[0, 1], [2]]))['loss']
    loss.backward()
    assert all(torch.isfinite(weight.grad).all() for weight in head.parameters())


def test_folded_head_has_the_same_scores() -> None:
    head = build(thr=0.3).eval()
    folded = head.fold()
    features = torch.randn(3, 8)
    torch.testing.assert_close(folded((features,)), head((features,)))
    assert [name for name, _ in folded.named_parameters()] == ['fc.weight', 'fc.bias']
    assert folded.thr == 0.3
    assert not folded.training


def test_predictions_are_lists_of_classes() -> None:
    head = build(topk=2)
    predictions = head.predict((torch.randn(2, 8),))
    assert [len(sample.pred_label) for sample in predictions] == [2, 2]


@pytest.mark.parametrize('kind', ['file', 'dict', 'object'])
def test_every_form_of_a_label_graph(tmp_path: Path, kind: str) -> None:
    graph = make_label_graph(GRAPH)
    source: Any = {'dict': GRAPH, 'object': graph}.get(kind, str(tmp_path / 'graph.npz'))
    if kind == 'file':
        save_label_graph(source, graph)
    head = build(source)
    torch.testing.assert_close(head.embeddings, torch.from_numpy(graph.embeddings))
    assert head.classes == NAMES


def test_a_checkpoint_needs_no_graph_file(tmp_path: Path) -> None:
    trained = build()
    waiting = build(str(tmp_path / 'none.npz'))
    features = torch.randn(2, 8)
    with pytest.raises(RuntimeError, match=r'since .*none\.npz does not exist: to train, add dict'):
        waiting(features)
    with pytest.raises(RuntimeError, match='to test, load a checkpoint'):
        waiting.fold()
    load_state_dict(waiting, trained.state_dict(), strict=True)
    torch.testing.assert_close(waiting(features), trained(features))
    assert copy.deepcopy(waiting)(features).shape == (2, 4)


def test_a_checkpoint_without_head_changes_nothing(tmp_path: Path) -> None:
    waiting, ready = build(str(tmp_path / 'none.npz')), build()
    for head in (waiting, ready):
        load_state_dict(head, {}, strict=False)
    assert (waiting.has_graph, ready.has_graph) == (False, True)
    assert ready.classes == NAMES


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match='has 4 classes but the head has num_classes=5'):
        build(num_classes=5)
    with pytest.raises(ValueError, match='vectors of length 6 but the head has embed_dim=300'):
        build(embed_dim=300)
    with pytest.raises(TypeError, match=r'must be the path of an \.npz file.*got 3'):
        build(3)
    with pytest.raises(ValueError, match='has no embeddings'):
        build({key: value for key, value in GRAPH.items() if key != 'embeddings'})
    with pytest.raises(ValueError, match='threshold must be positive'):
        build(threshold=0)


@pytest.mark.parametrize('shape', [(2, 8, 3, 3), (2, 9), (8,)])
def test_features_that_are_not_pooled_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r'pooled features \(N, 8\).*set neck=dict'):
        build()((torch.zeros(shape),))


@pytest.mark.parametrize('loss', ['AsymmetricLoss', 'FocalLoss', 'CrossEntropyLoss'])
def test_other_losses(loss: str) -> None:
    options = {'use_sigmoid': True} if loss == 'CrossEntropyLoss' else {}
    head = build(loss={'type': loss, **options})
    assert torch.isfinite(head.loss((torch.randn(2, 8),), samples([[0, 2], [1]]))['loss'])


@pytest.mark.parametrize('size', [(64, 64), (97, 33)])
def test_any_input_size(size: tuple[int, int]) -> None:
    model = MODELS.build(
        {
            'type': 'ImageClassifier',
            'backbone': {'type': 'ResNet', 'depth': 18},
            'neck': {'type': 'GlobalMaxPooling'},
            'head': {
                'type': 'MLGCNHead',
                'num_classes': 4,
                'in_channels': 512,
                'embed_dim': 6,
                'label_graph': GRAPH,
            },
        }
    ).eval()
    with torch.no_grad():
        assert model(torch.randn(2, 3, *size)).shape == (2, 4)


def test_a_few_images_are_learned_by_heart() -> None:
    torch.manual_seed(0)
    head = build()
    features = torch.randn(4, 8)
    labels = samples([[0, 1], [2], [], [1, 3]])
    optimizer = torch.optim.SGD(head.parameters(), lr=0.5, momentum=0.9)
    for _ in range(200):
        loss = head.loss((features,), labels)['loss']
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(head.parameters(), 10)
        optimizer.step()
    predictions = head.eval().predict((features,))
    assert [sample.pred_label.tolist() for sample in predictions] == [[0, 1], [2], [], [1, 3]]


def train_two_steps(rank: int, folder: str) -> None:
    """One of two processes: any parameter without gradient makes the second step fail."""
    distributed.init_process_group(
        'gloo', init_method=f'file://{folder}/rendezvous', rank=rank, world_size=2
    )
    torch.set_num_threads(1)
    graph = LabelGraph(**{**GRAPH, 'classes': NAMES})
    head = MLGCNHead(4, 8, graph, hidden_channels=16, embed_dim=6)
    model = DistributedDataParallel(head, find_unused_parameters=False, broadcast_buffers=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(rank)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.randn(3, 8, generator=generator)).square().mean().backward()
        optimizer.step()
    torch.save(head.state_dict(), os.path.join(folder, f'{rank}.pth'))
    distributed.destroy_process_group()


@pytest.mark.slow
def test_two_processes_without_unused_parameters(tmp_path: Path) -> None:
    torch.multiprocessing.spawn(train_two_steps, args=(str(tmp_path),), nprocs=2)
    first, second = (torch.load(tmp_path / f'{rank}.pth', weights_only=True) for rank in (0, 1))
    assert first.keys() == second.keys()
    for name, value in first.items():
        torch.testing.assert_close(value, second[name])
