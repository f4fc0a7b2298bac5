from __future__ import annotations

from collections import namedtuple

import pytest
import torch
from mmpretrain.models import LeViT, ResNet
from torch import nn

from mmshufflemix.probe import Feature, find_feature, probe_modules, replace_feature

Pair = namedtuple('Pair', 'features size')
FEATURES = torch.zeros(2, 5, 3)
SIZE = torch.tensor([7, 7])


@pytest.mark.parametrize(
    ('output', 'position'),
    [
        (FEATURES, None),
        ((FEATURES,), 0),
        ((FEATURES, (7, 7)), 0),
        ([SIZE, FEATURES], 1),
        (Pair(FEATURES, (7, 7)), 0),
        ((None, FEATURES), 1),
        ((torch.ones(2, 4, dtype=torch.long), FEATURES), 1),
    ],
)
def test_the_feature_tensor_is_found_and_replaced_in_the_same_container(output, position):
    found = find_feature(output, 2)
    assert found is not None
    assert found[0] == position
    assert found[1] is FEATURES

    new = torch.ones(2, 5, 3)
    replaced = replace_feature(output, position, new)
    assert type(replaced) is type(output)
    if position is None:
        assert replaced is new
    else:
        assert len(replaced) == len(output)
        for index, (before, after) in enumerate(zip(output, replaced, strict=True)):
            assert after is (new if index == position else before)


@pytest.mark.parametrize(
    'output',
    [
        None,
        {'features': FEATURES},
        (),
        torch.zeros(2),
        torch.zeros(3, 5),
        torch.ones(2, 5, dtype=torch.long),
        (FEATURES, FEATURES),
        (FEATURES, torch.zeros(32, 4)),
        ([FEATURES], FEATURES),
        ([FEATURES, FEATURES],),
    ],
)
def test_anything_but_one_feature_tensor_is_refused(output):
    assert find_feature(output, 2) is None


@pytest.mark.parametrize(
    ('shape', 'spatial'),
    [((2, 8), ()), ((2, 49, 8), (49,)), ((2, 8, 6, 7), (6, 7)), ((), ())],
)
def test_extent_of_features(shape, spatial):
    assert Feature(shape).spatial == spatial


class Net(nn.Module):
    """Draws random numbers, counts its calls, and runs one layer twice and one never."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.5)
        self.twice = nn.Identity()
        self.never = nn.Identity()
        self.batch_sizes: list[int] = []

    def forward(self, images):
        self.batch_sizes.append(len(images))
        x = self.drop(self.norm(self.conv(images + torch.rand(()))))
        return self.twice(self.twice(x))


def test_shapes_have_a_batch_of_two():
    net = Net()
    for count in (1, 2, 5):
        features = probe_modules(net, {'conv': net.conv}, torch.rand(count, 3, 6, 5))
        assert features == {'conv': Feature((2, 4, 6, 5))}
    assert net.batch_sizes == [2, 2, 2]


def test_modules_that_do_not_run_once_are_a_problem():
    net = Net()
    modules = {'twice': net.twice, 'never': net.never}
    features = probe_modules(net, modules, torch.rand(2, 3, 6, 5))
    assert 'runs 2 times' in features['twice'].problem
    assert 'runs 0 times' in features['never'].problem


def test_the_input_of_the_head_is_what_extract_feat_returns():
    net = nn.Module()
    net.head = nn.Linear(3, 2)
    net.extract_feat = lambda images: (images.mean((2, 3)),)
    features = probe_modules(net, {'head': net.head}, torch.rand(2, 3, 6, 5), before=('head',))
    assert features == {'head': Feature((2, 3))}


def test_wrappers_without_feature_extraction_are_called():
    class Wrapper(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = Net()

        def extract_feat(self, images):
            raise NotImplementedError

        def forward(self, images):
            return self.model(images)

    net = Wrapper()
    features = probe_modules(net, {'model.conv': net.model.conv}, torch.rand(2, 3, 6, 5))
    assert features == {'model.conv': Feature((2, 4, 6, 5))}


def state_of(net: nn.Module) -> dict:
    return {
        'flags': [module.training for module in net.modules()],
        'hooks': [len(module._forward_hooks) for module in net.modules()],
        'grads': [(p.requires_grad, p.grad is None) for p in net.parameters()],
    }


@pytest.mark.parametrize(
    'backbone',
    [
        ResNet(18, base_channels=8, stem_channels=8, frozen_stages=2, norm_eval=True),
        ResNet(18, base_channels=8, stem_channels=8),
        # Its attention caches biases in eval(), drops them in train(), and reads them by its flag.
        LeViT('128s', img_size=32),
    ],
    ids=['frozen', 'plain', 'levit'],
)
def test_a_probe_leaves_the_model_and_the_random_states_as_they_were(backbone):
    net = nn.Module()
    net.backbone = backbone
    net.extract_feat = backbone.forward
    net.eval()
    net.train()
    # What a user has changed by hand must not be undone by train().
    next(backbone.children()).eval()
    next(backbone.parameters()).requires_grad_(True)
    before, tensors = state_of(net), {k: v.clone() for k, v in net.state_dict().items()}
    images = torch.rand(4, 3, 32, 32)
    rng = torch.get_rng_state()

    probe_modules(net, {'backbone.stem': next(backbone.children())}, images)

    assert state_of(net) == before
    assert all(torch.equal(value, tensors[key]) for key, value in net.state_dict().items())
    assert torch.equal(torch.get_rng_state(), rng)


def test_a_probe_that_fails_leaves_no_hooks_and_flags_behind():
    net = Net()
    before = state_of(net)
    with pytest.raises(RuntimeError, match='expected input'):
        probe_modules(net, {'conv': net.conv}, torch.rand(2, 7, 6, 5))
    assert state_of(net) == before


def test_a_net_that_draws_random_numbers_leaves_their_state():
    net = Net()
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    probe_modules(net, {'norm': net.norm}, torch.ones(2, 3, 6, 5))
    assert torch.equal(torch.rand(3), expected)
    assert net.norm.num_batches_tracked == 0
    assert torch.equal(net.norm.running_mean, torch.zeros(4))
