from __future__ import annotations

import pytest
import torch
from torch import nn

from mmshufflemix.decision_boundary import METHODS, build_network, choose_methods, probabilities
from mmshufflemix.layers import resolve_layers


def test_four_linear_layers_and_three_relus() -> None:
    model = build_network(METHODS['baseline'], 3, width=5)
    linear = [module for module in model.modules() if isinstance(module, nn.Linear)]
    assert [tuple(module.weight.shape) for module in linear] == [(5, 2), (5, 5), (5, 5), (3, 5)]
    assert sum(isinstance(module, nn.ReLU) for module in model.modules()) == 3


def test_the_forward_pass_by_hand() -> None:
    model = build_network(METHODS['dropout'], 2, width=4).eval()
    points = torch.randn(6, 2, generator=torch.Generator().manual_seed(0))
    x = points
    *hidden, last = [module for module in model.modules() if isinstance(module, nn.Linear)]
    for layer in hidden:
        x = (x @ layer.weight.T + layer.bias).clamp(min=0)
    scores = (x @ last.weight.T + last.bias).exp()
    expected = scores / scores.sum(dim=1, keepdim=True)
    torch.testing.assert_close(probabilities(model, points), expected.detach())


def test_auto_means_the_input_and_the_hidden_layers() -> None:
    model = build_network(METHODS['shufflemix'], 2)
    sites = resolve_layers(model, 'auto', torch.randn(4, 2, 1, 1))
    assert [(site.name, site.channels, site.axis) for site in sites] == [
        ('input', 2, 1),
        ('backbone.layers.0', 64, 1),
        ('backbone.layers.1', 64, 1),
        ('backbone.layers.2', 64, 1),
    ]


@pytest.mark.parametrize('name', METHODS)
def test_what_a_method_is_built_of(name: str) -> None:
    model = build_network(METHODS[name], 2)
    [dropout] = [module for module in model.modules() if isinstance(module, nn.Dropout)]
    assert dropout.p == (0.2 if name == 'dropout' else 0)
    augments = getattr(model.data_preprocessor.batch_augments, 'augments', [])
    expected = {
        'input_mixup': ['InputMixup'],
        'manifold_mixup': ['ManifoldMixup'],
        'shufflemix': ['ShuffleMix'],
        'shufflemix_hard': ['ShuffleMix'],
        'nfm': ['NoisyFeatureMixup'],
        'shufflemix_nfm': ['ShuffleMixNFM'],
    }.get(name, [])
    assert [type(augment).__name__ for augment in augments] == expected
    assert all(type(augment).__module__.startswith('mmshufflemix.') for augment in augments)


def test_one_seed_gives_all_methods_the_same_weights() -> None:
    states = []
    for method in METHODS.values():
        torch.manual_seed(5)
        states.append(build_network(method, 3).state_dict())
    for state in states[1:]:
        assert state.keys() == states[0].keys()
        assert all(torch.equal(state[name], states[0][name]) for name in state)


def test_methods_are_looked_up_by_name() -> None:
    assert list(choose_methods(['nfm', 'baseline', 'nfm'])) == ['nfm', 'baseline']
    with pytest.raises(
        ValueError, match=r'^methods must be among baseline, .*; got cutout, mixed$'
    ):
        choose_methods(['cutout', 'baseline', 'mixed'])
    with pytest.raises(ValueError, match='got none$'):
        choose_methods([])
