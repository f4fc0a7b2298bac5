from __future__ import annotations

import math

import pytest
import torch

from mmshufflemix.functional import (
    inject_noise,
    label_weight,
    mix_features,
    mix_targets,
    num_mixed_channels,
    threshold_targets,
)

LAYOUTS = [((5, 7), 1), ((4, 9, 12), 2), ((4, 9, 12), -1), ((5, 7, 4, 3), 1), ((3, 5, 6, 7), 3)]
# Above the size from which each image is blended on its own.
LARGE = [((2, 64, 32, 32), 1), ((3, 1100, 32), 2)]
TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-6, torch.bfloat16: 0.04}


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def loop_mix(x, perm, channels, lam, axis):
    """Oracle: one image and one channel at a time, in float64."""
    source = x.detach().movedim(axis, 1).double()
    mixed = source.clone()
    for i in range(len(x)):
        own = float(lam[i]) if isinstance(lam, torch.Tensor) and lam.ndim else float(lam)
        for c in (channels[i] if channels.ndim == 2 else channels).tolist():
            mixed[i, c] = own * source[i, c] + (1 - own) * source[perm[i], c]
    return mixed.movedim(1, axis)


def draw_case(shape, axis, dtype, per_sample, lam=None):
    rng = generator()
    count, channels = shape[0], shape[axis]
    x = torch.randn(shape, generator=rng, dtype=torch.float64).to(dtype)
    perm = torch.randperm(count, generator=rng)
    rows = torch.rand(count, channels, generator=rng).argsort(1)[:, : max(1, channels // 2)]
    if per_sample:
        return x, perm, rows, torch.rand(count, generator=rng)
    return x, perm, rows[0], 0.3 if lam is None else lam


@pytest.mark.parametrize('dtype', list(TOLERANCE))
@pytest.mark.parametrize(('shape', 'axis'), LAYOUTS + LARGE)
@pytest.mark.parametrize('case', ['soft', 'hard', 'per_sample'])
def test_mix_features_equals_the_loop(dtype, shape, axis, case):
    lam = 0.0 if case == 'hard' else None
    x, perm, channels, lam = draw_case(shape, axis, dtype, case == 'per_sample', lam)
    before = x.clone()
    mixed = mix_features(x, perm, channels, lam, axis)
    assert mixed.dtype == dtype
    assert torch.equal(x, before)
    assert mixed.data_ptr() != x.data_ptr()
    expected = loop_mix(x, perm, channels, lam, axis)
    assert (mixed.double() - expected).abs().max() <= TOLERANCE[dtype]
    if case == 'hard':
        assert torch.equal(mixed.double(), expected)


@pytest.mark.parametrize('shape', [(4, 6, 5, 5), (2, 64, 32, 32)])
def test_channels_last_stays(shape):
    x, perm, channels, lam = draw_case(shape, 1, torch.float32, False)
    x = x.to(memory_format=torch.channels_last)
    mixed = mix_features(x, perm, channels, lam)
    assert mixed.is_contiguous(memory_format=torch.channels_last)
    assert (mixed.double() - loop_mix(x, perm, channels, lam, 1)).abs().max() < 1e-6


def test_unmixed_channels_are_untouched_bit_for_bit():
    x, perm, channels, lam = draw_case((4, 10, 3, 3), 1, torch.float32, False)
    mixed = mix_features(x, perm, channels, lam)
    rest = [c for c in range(10) if c not in channels.tolist()]
    assert torch.equal(mixed[:, rest], x[:, rest])


@pytest.mark.parametrize('lam', [1.0, torch.ones(5)])
def test_lambda_one_and_identity_and_no_channels_change_nothing(lam):
    x, perm, channels, _ = draw_case((5, 7, 4, 3), 1, torch.float32, False)
    assert torch.equal(mix_features(x, perm, channels, lam), x)
    assert torch.equal(mix_features(x, torch.arange(5), channels, 0.3), x)
    assert torch.equal(mix_features(x, perm, channels[:0], 0.3), x)


@pytest.mark.parametrize('lam', [0.3, 0.0, torch.tensor([0.1, 0.9, 0.5, 0.0])])
@pytest.mark.parametrize('channels', [torch.tensor([1, 4]), torch.tensor([[0], [2], [5], [2]])])
def test_gradients(lam, channels):
    x = torch.randn(4, 6, 2, 2, dtype=torch.float64, generator=generator(), requires_grad=True)
    perm = torch.tensor([2, 0, 1, 3])

    def mix(t):
        return mix_features(t, perm, channels, lam)

    assert torch.autograd.gradcheck(mix, x)
    assert torch.autograd.gradgradcheck(mix, x)
    assert torch.autograd.gradcheck(mix, x, check_forward_ad=True, check_backward_ad=False)


def test_gradient_of_large_features_equals_the_plain_formula():
    x, perm, channels, lam = draw_case((3, 64, 32, 32), 1, torch.float64, False)
    weights = torch.randn(x.shape, generator=generator(1), dtype=x.dtype)
    mask = torch.zeros(64, 1, 1, dtype=torch.bool)
    mask[channels] = True
    plain, ours = x.clone().requires_grad_(), x.clone().requires_grad_()
    (torch.where(mask, lam * plain + (1 - lam) * plain[perm], plain) * weights).sum().backward()
    (mix_features(ours, perm, channels, lam) * weights).sum().backward()
    torch.testing.assert_close(ours.grad, plain.grad, rtol=0, atol=1e-14)


@pytest.mark.parametrize('shape', [(5, 64, 4, 4), (3, 64, 32, 32)])
@pytest.mark.parametrize('lam', [0.0, 0.1, 0.3, 0.5, 0.9, 1.0])
def test_float32_is_within_two_ulp_of_the_plain_formula(shape, lam):
    """An ulp here is the spacing of float32 at the larger of both operands."""
    x, perm, channels, _ = draw_case(shape, 1, torch.float32, False)
    grad = torch.randn(shape, generator=generator(1))
    mask = torch.zeros(64, 1, 1, dtype=torch.bool)
    mask[channels] = True
    plain, ours = x.clone().requires_grad_(), x.clone().requires_grad_()
    expected = torch.where(mask, lam * plain + (1 - lam) * plain[perm], plain)
    mixed = mix_features(ours, perm, channels, lam)
    expected.backward(grad)
    mixed.backward(grad)
    for got, wanted, operand, order in (
        (mixed, expected, x, perm),
        (ours.grad, plain.grad, grad, perm.argsort()),
    ):
        larger = torch.maximum(operand.abs(), operand[order].abs())
        ulp = torch.nextafter(larger, torch.tensor(torch.inf)) - larger
        error = ((got.double() - wanted.double()) / ulp.double()).abs().max()
        assert error == 0 if lam in (0.0, 1.0) else error <= 2


def test_result_may_be_changed_in_place_before_backward():
    x = torch.randn(4, 6, generator=generator(), requires_grad=True)
    mix_features(
        x * 1, torch.tensor([1, 0, 3, 2]), torch.tensor([0, 1]), 0.4
    ).relu_().sum().backward()
    assert x.grad is not None


@pytest.mark.parametrize(
    ('change', 'error', 'message'),
    [
        (
            {'x': torch.ones(3, 4, dtype=torch.int64)},
            TypeError,
            'must be a floating-point tensor, got torch.int64',
        ),
        ({'perm': torch.tensor([0, 0, 1])}, ValueError, r'permutation of 0\.\.2'),
        ({'perm': torch.tensor([1, 0])}, ValueError, r'each of 3 images, got shape \(2,\)'),
        ({'perm': torch.tensor([0.0, 1.0, 2.0])}, TypeError, 'perm must be an int64 tensor'),
        ({'channels': torch.tensor([4])}, ValueError, r'0\.\.3, got 4\.\.4'),
        ({'channels': torch.zeros(2, 1, dtype=torch.int64)}, ValueError, r'\(n,\) or \(3, n\)'),
        ({'channels': torch.tensor([1, 2, 1])}, ValueError, 'must not repeat one'),
        ({'channels': [0]}, TypeError, 'channels must be an int64 tensor, got list'),
        ({'lam': 'a'}, TypeError, "lam must be a number, got 'a'"),
        ({'channels': torch.tensor([True])}, TypeError, 'channels must be an int64 tensor'),
        ({'lam': 1.5}, ValueError, r'lam must lie in \[0, 1\], got 1.5'),
        ({'lam': float('nan')}, ValueError, 'lam must lie in'),
        ({'lam': torch.ones((), requires_grad=True)}, ValueError, 'lam would get no gradient'),
        ({'lam': torch.ones(2)}, ValueError, r'have the shape \(3,\)'),
        ({'channel_axis': 0}, ValueError, 'other than the batch axis'),
        ({'channel_axis': 2}, ValueError, 'channel_axis must name an axis'),
    ],
)
def test_mix_features_refuses(change, error, message):
    arguments = {
        'x': torch.ones(3, 4),
        'perm': torch.tensor([1, 2, 0]),
        'channels': torch.tensor([0]),
        'lam': 0.5,
        'channel_axis': 1,
    }
    with pytest.raises(error, match=message):
        mix_features(**{**arguments, **change})


@pytest.mark.parametrize(
    ('ratio', 'channels', 'expected'),
    [
        (0.5, 3, 1),
        (0.5, 64, 32),
        (0.29, 100, 29),
        (0.01, 3, 1),
        (0, 64, 0),
        (1, 7, 7),
        (0.99, 7, 6),
    ],
)
def test_num_mixed_channels(ratio, channels, expected):
    assert num_mixed_channels(ratio, channels) == expected


def test_label_weight_counts_the_channels_really_mixed():
    # Three input channels at r = 0.5: one is mixed, so the partner gets a third of 1 - lambda.
    assert label_weight(num_mixed_channels(0.5, 3), 3, 0.0) == pytest.approx(2 / 3)
    assert label_weight(32, 64, 0.4) == pytest.approx(0.7)
    lam = torch.tensor([0.0, 0.5, 1.0])
    torch.testing.assert_close(label_weight(1, 4, lam), torch.tensor([0.75, 0.875, 1.0]))
    with pytest.raises(ValueError, match='got 5 of 4'):
        label_weight(5, 4, 0.5)
    with pytest.raises(ValueError, match=r'lam must lie in \[0, 1\], got 1.5'):
        label_weight(1, 4, 1.5)


@pytest.mark.parametrize('dtype', [torch.float32, torch.int64, torch.bool, torch.bfloat16])
@pytest.mark.parametrize('weight', [0.3, torch.tensor([0.3, 0.9, 0.5])])
def test_mix_targets_equals_the_loop(dtype, weight):
    y = torch.tensor([[1, 1, 0], [0, 1, 1], [0, 0, 0]]).to(dtype)
    before = y.clone()
    perm = torch.tensor([1, 0, 2])
    mixed = mix_targets(y, perm, weight)
    assert mixed.is_floating_point()
    assert torch.equal(y, before)
    for i in range(3):
        w = float(weight[i]) if isinstance(weight, torch.Tensor) else weight
        for k in range(3):
            expected = w * float(y[i, k]) + (1 - w) * float(y[perm[i], k])
            assert float(mixed[i, k]) == pytest.approx(
                expected, abs=1e-2 if dtype == torch.bfloat16 else 1e-6
            )


def test_weighted_labels_and_their_union():
    # Labels {0, 1} and {1, 2} at lambda 0.3.
    y = torch.tensor([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    mixed = mix_targets(y, torch.tensor([1, 0]), 0.3)
    torch.testing.assert_close(mixed[0], torch.tensor([0.3, 1.0, 0.7]))
    assert threshold_targets(mixed, 0.5)[0].tolist() == [0, 1, 1]
    assert threshold_targets(mixed, 1e-6)[0].tolist() == [1, 1, 1]


@pytest.mark.parametrize('dtype', [torch.float32, torch.bfloat16])
def test_a_class_of_both_images_survives_every_lambda_and_threshold(dtype):
    y = torch.tensor([[1, 0, 1], [1, 1, 0]], dtype=dtype)
    for lam in torch.linspace(0, 1, 101).tolist():
        mixed = mix_targets(y, torch.tensor([1, 0]), lam)
        for m in (0.1, 0.5, 0.7, 1.0):
            hard = threshold_targets(mixed, m)
            assert hard.dtype == dtype
            assert hard[:, 0].tolist() == [1, 1]
            assert set(hard.unique().tolist()) <= {0.0, 1.0}
    # The same where somebody else has mixed, with a rounding error.
    sums = torch.tensor([[0.3], [0.9]], dtype=dtype) + torch.tensor([[0.7], [0.1]], dtype=dtype)
    assert threshold_targets(sums, 1.0).tolist() == [[1], [1]]


@pytest.mark.parametrize('dtype', [torch.float32, torch.bfloat16, torch.float16, torch.int64])
@pytest.mark.parametrize('m', [1e-4, 0.01, 0.5])
def test_a_class_of_neither_image_never_passes_the_threshold(dtype, m):
    y = torch.tensor([[0, 0, 1, 0]], dtype=dtype)
    assert threshold_targets(y, m).tolist() == [[0, 0, 1, 0]]
    assert threshold_targets(torch.tensor([[0.48]]), 0.5).item() == 0


def test_an_empty_batch_stays_empty():
    none = torch.zeros(0, 4)
    mixed = mix_features(none, torch.zeros(0, dtype=torch.int64), torch.tensor([0]), 0.5)
    assert mixed.shape == (0, 4)


def test_threshold_at_equality_and_of_empty_images():
    y = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert threshold_targets(mix_targets(y, torch.tensor([1, 0]), 0.5), 0.5)[0].tolist() == [
        1,
        1,
        0,
    ]
    assert threshold_targets(mix_targets(y, torch.tensor([1, 0]), 0.9), 0.5)[0].tolist() == [
        1,
        0,
        0,
    ]
    empty = mix_targets(torch.zeros(2, 3), torch.tensor([1, 0]), 0.4)
    assert threshold_targets(empty, 0.1).sum() == 0


@pytest.mark.parametrize('m', [0, -0.1, 1.1, float('nan')])
def test_threshold_is_refused_outside_its_range(m):
    with pytest.raises(ValueError, match=r'must lie in \(0, 1\]'):
        threshold_targets(torch.zeros(1, 2), m)


def test_targets_of_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r'shape \(N, K\), got \(2, 3, 1\)'):
        mix_targets(torch.zeros(2, 3, 1), torch.tensor([1, 0]), 0.5)


def test_noise_has_the_stated_moments():
    # E[b1^2] of Beta(2, 5) is 3/28 and Var(u) = 1/3; the same b for all elements of a call.
    x = torch.ones(1, 40_000, dtype=torch.float64)
    added, scaled = [], []
    for seed in range(400):
        added.append(inject_noise(x, 0.4, 0.0, generator(seed)).var().item())
        scaled.append(inject_noise(x, 0.0, 0.2, generator(seed)).var().item())
    assert sum(added) / 400 == pytest.approx(0.4**2 * 3 / 28, rel=0.12)
    assert sum(scaled) / 400 == pytest.approx(0.2**2 * 3 / 28 / 3, rel=0.12)


def test_noise_strengths_are_shared_by_a_batch_or_drawn_for_each_image():
    x = torch.ones(6, 20_000)
    shared = inject_noise(x, 0.4, 0.0, generator()).std(dim=1)
    each = inject_noise(x, 0.4, 0.0, generator(), per_sample=True).std(dim=1)
    assert shared.max() / shared.min() < 1.1
    assert each.max() / each.min() > 1.2


@pytest.mark.parametrize('dtype', [torch.float32, torch.bfloat16, torch.float64])
def test_noise_is_seeded_keeps_the_kind_of_tensor_and_never_writes(dtype):
    x = torch.randn(3, 4, 5, 5, generator=generator()).to(dtype)
    x = x.to(memory_format=torch.channels_last)
    before = x.clone()
    state = torch.get_rng_state()
    noisy = inject_noise(x, 0.4, 0.2, generator(3))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(x, before)
    assert noisy.dtype == dtype
    assert noisy.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(noisy, inject_noise(x, 0.4, 0.2, generator(3)))
    silent = inject_noise(x, 0.0, 0.0, generator(3))
    assert torch.equal(silent, x)
    assert silent.data_ptr() != x.data_ptr()


@pytest.mark.parametrize('value', [-0.1, math.inf, math.nan])
def test_noise_scales_are_checked(value):
    with pytest.raises(ValueError, match='add_noise must be a finite number >= 0'):
        inject_noise(torch.ones(2, 2), value, 0.0)
    with pytest.raises(ValueError, match='mult_noise must be a finite number >= 0'):
        inject_noise(torch.ones(2, 2), 0.0, value)
    with pytest.raises(TypeError, match="mult_noise must be a number, got 'much' of type str"):
        inject_noise(torch.ones(2, 2), 0.0, 'much')
