from __future__ import annotations

import copy
import pickle

import pytest
import torch
from mmpretrain.registry import BATCH_AUGMENTS

import mmshufflemix

NAMES = ['ShuffleMix', 'ManifoldMixup', 'InputMixup', 'NoisyFeatureMixup', 'ShuffleMixNFM']
HIDDEN = [name for name in NAMES if name != 'InputMixup']


def targets(count: int, classes: int = 10) -> torch.Tensor:
    return torch.eye(classes)[torch.arange(count) % classes]


def build(name: str, **kwargs):
    if name != 'InputMixup':
        kwargs.setdefault('layers', [0])
    return BATCH_AUGMENTS.build({'type': name, **kwargs})


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('prefix', ['', 'mmshufflemix.'])
def test_built_by_both_names_with_an_integer_alpha(name, prefix):
    augment = BATCH_AUGMENTS.build({'type': prefix + name, 'alpha': 1})
    assert type(augment) is getattr(mmshufflemix, name)


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('size', [1, 2, 3, 5, 7])
def test_any_batch_size_keeps_the_shapes_and_the_arguments(name, size):
    torch.manual_seed(size)
    images, scores = torch.randn(size, 3, 8, 8), targets(size)
    copies = images.clone(), scores.clone()
    mixed, labels = build(name)(images, scores)
    assert mixed.shape == images.shape
    assert torch.equal(images, copies[0])
    assert torch.equal(scores, copies[1])
    torch.testing.assert_close(labels.sum(1), torch.ones(size))
    assert (labels > 0).sum(1).max() <= 2


@pytest.mark.parametrize('name', ['ShuffleMix', 'ManifoldMixup', 'InputMixup'])
@pytest.mark.parametrize('per_sample', [False, True])
def test_image_and_label_shares_agree(name, per_sample):
    # Images that are constant with the value of their class: the mean is the mixed class index.
    torch.manual_seed(1)
    count = 6
    values = torch.arange(count, dtype=torch.float64)
    images = values.view(-1, 1, 1, 1).expand(-1, 3, 4, 4).contiguous()
    for _ in range(10):
        mixed, labels = build(name, per_sample=per_sample)(images, targets(count, count).double())
        torch.testing.assert_close(mixed.mean(dim=(1, 2, 3)), labels @ values)


def test_paper_equalities_hold_exactly_under_the_same_draws():
    images, scores = torch.randn(6, 3, 8, 8), targets(6)

    def run(name, **kwargs):
        torch.manual_seed(5)
        return build(name, **kwargs)(images, scores)

    manifold = run('ManifoldMixup')
    for other in (
        run('ShuffleMix', ratio=1),
        run('InputMixup'),
        run('NoisyFeatureMixup', add_noise=0, mult_noise=0),
        run('ShuffleMixNFM', ratio=1, add_noise=0, mult_noise=0),
    ):
        assert torch.equal(manifold[0], other[0])
        assert torch.equal(manifold[1], other[1])


def test_no_mixing_at_ratio_zero_and_alpha_zero():
    images, scores = torch.randn(4, 3, 8, 8), targets(4)
    for augment in (build('ShuffleMix', ratio=0), build('ShuffleMix', alpha=0)):
        mixed, labels = augment(images, scores)
        assert torch.equal(mixed, images)
        assert torch.equal(labels, scores)


@pytest.mark.parametrize('name', NAMES)
def test_integer_multi_hot_targets_become_mixed_floats(name):
    torch.manual_seed(0)
    scores = torch.tensor([[1, 1, 0, 0], [0, 1, 1, 1], [0, 0, 0, 0]])
    before = scores.clone()
    _, labels = build(name)(torch.randn(3, 3, 8, 8), scores)
    assert labels.is_floating_point()
    assert torch.equal(scores, before)
    torch.testing.assert_close(labels.sum(0), scores.sum(0).float())
    assert ((labels > 0) & (labels < 1)).any()
    _, hard = build(name, label_threshold=0.2)(torch.randn(3, 3, 8, 8), scores)
    assert set(hard.unique().tolist()) <= {0.0, 1.0}


@pytest.mark.parametrize('name', HIDDEN)
def test_hidden_layers_without_a_model_are_refused(name):
    with pytest.raises(RuntimeError, match='train_cfg.augments'):
        BATCH_AUGMENTS.build({'type': name})(torch.randn(2, 3, 8, 8), targets(2))


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize(
    ('kwargs', 'error', 'message'),
    [
        ({'num_classes': 10}, ValueError, 'moved to the data preprocessor'),
        ({'prob': 0.5}, ValueError, 'train_cfg.probs'),
        ({'lambda_': 1}, TypeError, 'unknown arguments: lambda_'),
        ({'alpha': -1.0}, ValueError, r'alpha must lie in \[0, 1e6\]'),
        ({'alpha': float('inf')}, ValueError, r'alpha must lie in \[0, 1e6\]'),
        ({'alpha': '1'}, TypeError, 'alpha must be a number'),
        ({'label_threshold': 0}, ValueError, r'\(0, 1\]'),
        ({'label_threshold': 1.5}, ValueError, r'\(0, 1\]'),
        ({'label_threshold': '0.3'}, TypeError, "label threshold must be a number, got '0.3'"),
    ],
)
def test_bad_arguments(name, kwargs, error, message):
    with pytest.raises(error, match=message):
        getattr(mmshufflemix, name)(**kwargs)


@pytest.mark.parametrize(
    ('kwargs', 'error', 'message'),
    [
        ({'ratio': 1.2}, ValueError, r'ratio must lie in \[0, 1\]'),
        ({'mode': 'both'}, ValueError, "'soft' or 'hard', got 'both'"),
        ({'layers': []}, ValueError, 'empty list'),
        ({'layers': [1.5]}, TypeError, 'got 1.5 of type float'),
        ({'layers': [True]}, TypeError, 'got True of type bool'),
        ({'add_noise': 0.4}, TypeError, 'unknown arguments: add_noise'),
        ({'channel_axis': 'last'}, TypeError, 'channel_axis must be an integer'),
    ],
)
def test_bad_arguments_of_shufflemix(kwargs, error, message):
    with pytest.raises(error, match=message):
        mmshufflemix.ShuffleMix(**kwargs)


@pytest.mark.parametrize(
    ('scores', 'message'),
    [
        (torch.tensor([[0, 2.0], [1, 0]]), r'image 0 of the batch has 2 for class 1'),
        (torch.tensor([[0, 1.0], [-1, 0]]), r'image 1 of the batch has -1 for class 0'),
        (torch.tensor([[0, 1.0], [float('nan'), 0]]), 'image 1 of the batch has nan'),
        (torch.ones(2, 3, 1), r'shape \(2, classes\), got \(2, 3, 1\)'),
        (torch.ones(3, 2), r'shape \(2, classes\), got \(3, 2\)'),
        (torch.tensor([0, 1]), r'shape \(2, classes\), got \(2,\)'),
    ],
)
def test_bad_targets(scores, message):
    with pytest.raises(ValueError, match=message):
        build('InputMixup')(torch.randn(2, 3, 4, 4), scores)


@pytest.mark.parametrize('name', NAMES)
def test_copies(name):
    augment = build(name, alpha=0.7)
    images, scores = torch.randn(4, 3, 8, 8), targets(4)
    results = []
    for twin in (augment, copy.deepcopy(augment), pickle.loads(pickle.dumps(augment))):
        torch.manual_seed(2)
        results.append(twin(images, scores))
    assert all(torch.equal(results[0][0], other[0]) for other in results[1:])
    assert all(torch.equal(results[0][1], other[1]) for other in results[1:])


def test_only_torch_randomness_is_used():
    images, scores = torch.randn(4, 3, 8, 8), targets(4)
    import numpy as np

    state = np.random.get_state()[1].copy()
    build('ShuffleMixNFM')(images, scores)
    assert (np.random.get_state()[1] == state).all()
