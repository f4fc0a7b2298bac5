from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from mmshufflemix.robustness import add_salt_pepper, add_white_noise
from mmshufflemix.robustness.noise import draw_salt_pepper, draw_white_noise, salt_pepper_count

ADD = {'white': add_white_noise, 'salt_pepper': add_salt_pepper}
DRAW = {'white': draw_white_noise, 'salt_pepper': draw_salt_pepper}


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def images(*shape: int) -> Tensor:
    return torch.randn(shape, generator=generator(99))


def looped_salt_pepper(x: Tensor, keys: Tensor, level: float, mode: str) -> Tensor:
    """Write value by value, the positions taken from the draw by sorting."""
    noisy = x.tolist()
    _, channels, height, width = x.shape
    count = math.ceil(level * height * width / 2)
    for image, sets in zip(noisy, keys.tolist(), strict=True):
        for channel in range(1 if mode == 'paper' else channels):
            for keys_of_set, extreme in zip(sets, (min, max), strict=True):
                value = extreme(extreme(row) for row in image[channel])
                order = sorted(range(height * width), key=lambda i: keys_of_set[i])
                for position in order[:count]:
                    image[channel][position // width][position % width] = value
    return torch.tensor(noisy)


@pytest.mark.parametrize('mode', ['paper', 'all'])
@pytest.mark.parametrize('level', [0.0, 0.02, 0.1, 0.3, 1.0])
def test_salt_pepper_equals_a_loop(level: float, mode: str) -> None:
    x = images(4, 3, 6, 5)
    expected = looped_salt_pepper(x, draw_salt_pepper(x, generator()), level, mode)
    torch.testing.assert_close(add_salt_pepper(x, level, generator(), mode), expected)


def test_salt_pepper_positions_are_uniform_and_the_two_sets_independent() -> None:
    x = torch.zeros(4000, 1, 2, 4)
    keys = draw_salt_pepper(x, generator())
    # Four of eight positions in each set.
    chosen = (keys.argsort(dim=2).argsort(dim=2) < 4).float()
    assert chosen.shape == (4000, 2, 8)
    torch.testing.assert_close(chosen.mean(0), torch.full((2, 8), 0.5), atol=0.04, rtol=0)
    assert chosen.prod(1).mean().item() == pytest.approx(0.25, abs=0.01)


def test_an_overwritten_maximum_does_not_come_back() -> None:
    """At level 1 all of two positions may become minima before the maximum is taken."""
    x = torch.tensor([0.0, 1.0]).reshape(1, 1, 1, 2).repeat(400, 1, 1, 1)
    noisy = add_salt_pepper(x, 1.0, generator()).flatten(1)
    outcomes = {tuple(row) for row in noisy.tolist()}
    # Minimum at 0 or 1, then maximum at 0 or 1.
    assert outcomes == {(1.0, 1.0), (0.0, 1.0), (0.0, 0.0)}


def test_levels_are_nested_and_modes_share_positions() -> None:
    x = images(3, 3, 16, 16)
    low, high = (add_salt_pepper(x, level, generator()) != x for level in (0.05, 0.2))
    assert not (low & ~high).any()
    assert low[:, 0].sum() < high[:, 0].sum()
    assert not high[:, 1:].any()
    everywhere = add_salt_pepper(x, 0.2, generator(), 'all')
    torch.testing.assert_close(everywhere[:, 0], add_salt_pepper(x, 0.2, generator())[:, 0])
    # Of a channel of different values, at most three unchanged ones hide a position.
    positions = (everywhere != x).flatten(2).any(1).sum(1)
    assert (positions <= 2 * salt_pepper_count(0.2, 256)).all()


@pytest.mark.parametrize(
    ('level', 'positions', 'expected'),
    # 0.07 * 200 / 2 is 7.000000000000001 in binary.
    [(0.02, 1024, 11), (0.04, 1024, 21), (0.1, 1024, 52), (0.07, 200, 7), (0, 9, 0), (1, 9, 5)],
)
def test_positions_of_a_level(level: float, positions: int, expected: int) -> None:
    assert salt_pepper_count(level, positions) == expected


def test_white_noise_is_normal_and_scales() -> None:
    x = images(200, 3, 8, 8)
    noise = add_white_noise(x, 0.3, generator()) - x
    assert noise.mean().item() == pytest.approx(0, abs=0.005)
    assert noise.std().item() == pytest.approx(0.3, rel=0.02)
    assert (noise.abs() < 0.3).float().mean().item() == pytest.approx(0.6827, abs=0.01)
    assert torch.corrcoef(torch.stack([noise[:-1].flatten(), noise[1:].flatten()]))[0, 1] < 0.02
    torch.testing.assert_close(add_white_noise(x, 0.1, generator()) - x, noise / 3)
    assert torch.equal(add_white_noise(x, 0.0, generator()), x)


@pytest.mark.parametrize('noise', list(DRAW))
@pytest.mark.parametrize('shape', [(3, 5, 5), (1, 1, 2), (3, 8, 8), (2, 7, 3)])
def test_draws_do_not_depend_on_the_batch_size(noise: str, shape: tuple[int, ...]) -> None:
    x = images(13, *shape)
    whole = DRAW[noise](x, generator())
    for sizes in ([1] * 13, [4, 4, 4, 1], [12, 1]):
        rng = generator()
        parts = [DRAW[noise](part, rng) for part in x.split(sizes)]
        assert torch.equal(torch.cat(parts), whole)


@pytest.mark.parametrize('noise', list(ADD))
def test_the_input_stays_and_its_format_too(noise: str) -> None:
    x = images(4, 3, 8, 8).to(memory_format=torch.channels_last)
    before = x.clone()
    noisy = ADD[noise](x, 0.2, generator())
    assert torch.equal(x, before)
    assert not torch.equal(noisy, x)
    contiguous = ADD[noise](x.contiguous(), 0.2, generator())
    assert torch.equal(noisy, contiguous)
    half = ADD[noise](x.half(), 0.2, generator())
    assert half.dtype == torch.float16
    torch.testing.assert_close(half.float(), noisy, atol=0.01, rtol=0)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason='no GPU')
@pytest.mark.parametrize('noise', list(ADD))
def test_a_gpu_sees_the_same_noise(noise: str) -> None:
    x = images(4, 3, 8, 8)
    noisy = ADD[noise](x.cuda(), 0.2, generator())
    assert noisy.is_cuda
    torch.testing.assert_close(noisy.cpu(), ADD[noise](x, 0.2, generator()))


def test_mistakes() -> None:
    x = images(2, 3, 4, 4)
    with pytest.raises(ValueError, match='white noise must be at least 0, got -0.1'):
        add_white_noise(x, -0.1, generator())
    with pytest.raises(ValueError, match='white noise must be at least 0, got inf'):
        add_white_noise(x, math.inf, generator())
    for level in (1.5, math.nan):
        with pytest.raises(ValueError, match='salt_pepper noise must be from 0 to 1, got'):
            add_salt_pepper(x, level, generator())
    with pytest.raises(ValueError, match=r"must be one of \('paper', 'all'\), got 'both'"):
        add_salt_pepper(x, 0.1, generator(), 'both')
    for add in ADD.values():
        with pytest.raises(ValueError, match=r'the model gets \(3, 4, 4\)'):
            add(x[0], 0.1, generator())
