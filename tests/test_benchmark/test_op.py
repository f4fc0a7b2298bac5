from __future__ import annotations

import pytest
import torch

from mmshufflemix.benchmark.op import (
    OP_MODES,
    Operands,
    kept_for_backward,
    measure_op,
    mix_by_indexing,
)
from mmshufflemix.functional import mix_features

SHAPE = (6, 8, 3, 3)


def operands(shape: tuple[int, ...] = SHAPE) -> Operands:
    generator = torch.Generator().manual_seed(0)
    leaf = torch.randn(shape, generator=generator, requires_grad=True)
    perm = torch.randperm(shape[0], generator=generator)
    channels = torch.randperm(shape[1], generator=generator)[: shape[1] // 2]
    return Operands(leaf, leaf.clone(), perm, channels, 0.3, torch.ones(shape))


@pytest.mark.parametrize('lam', [0.3, 0.0])
def test_the_reference_computes_the_same(lam: float):
    given = operands()
    ours = mix_features(given.x, given.perm, given.channels, lam)
    (gradient,) = torch.autograd.grad(ours.square().sum(), given.leaf)
    theirs = mix_by_indexing(given.x, given.perm, given.channels, lam)
    (expected,) = torch.autograd.grad(theirs.square().sum(), given.leaf)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(gradient, expected)


@pytest.mark.parametrize('mode', OP_MODES)
def test_both_comparisons_are_made(mode: str):
    done: list[int] = []
    result = measure_op(SHAPE, mode, pairs=3, report=done.append)
    assert done == [1, 2, 3]
    assert result['pairs'] == 3
    assert min(result['seconds'], result['authors_seconds'], result['of_copies']) > 0
    assert result['speedup_q1'] <= result['speedup'] <= result['speedup_q3']


def test_less_than_one_tensor_is_kept_for_backward():
    # Only the permutation, 8 bytes an image, and the weight of every channel, 4 bytes.
    given = operands((16, 32, 8, 8))
    kept = kept_for_backward(mix_features, given)
    assert kept == (8 * 16 + 4 * 32) / (4 * 16 * 32 * 8 * 8)


def test_what_a_mix_keeps_is_counted_once():
    def squared_twice(x, perm, channels, lam):
        return (x * x) * (x * x)

    given = operands()
    # x once, and the two factors.
    assert kept_for_backward(squared_twice, given) == 3
