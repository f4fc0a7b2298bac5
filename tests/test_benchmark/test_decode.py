from __future__ import annotations

import argparse
import importlib.util

import cv2
import numpy as np
import pytest
from PIL import Image

from mmshufflemix.benchmark.commands import large_images
from mmshufflemix.benchmark.decode import (
    PreparationCost,
    difference,
    measure_decoder,
    measure_stages,
    read_pictures,
    summarise_differences,
)
from mmshufflemix.benchmark.decoders import list_decoders, list_resizers
from mmshufflemix.benchmark.resize import measure_resizer

COST = PreparationCost(size=16, pairs=2)


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for name in ('b.jpg', 'a.JPG', 'c.jpeg'):
        coarse = rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)
        pixels = cv2.resize(coarse, (96, 72), interpolation=cv2.INTER_CUBIC)
        Image.fromarray(pixels).save(tmp_path / name, 'JPEG', quality=95)
    (tmp_path / 'notes.txt').write_text('no picture')
    return tmp_path


def test_pictures_in_order_and_thinned(folder):
    everything = [(folder / name).read_bytes() for name in ('a.JPG', 'b.jpg', 'c.jpeg')]
    assert read_pictures(folder) == everything
    assert read_pictures(folder, limit=2) == everything[::2]


def test_bad_folders_are_named(folder):
    with pytest.raises(FileNotFoundError, match='nowhere.* is no folder'):
        read_pictures(folder / 'nowhere')
    (folder / 'empty').mkdir()
    with pytest.raises(ValueError, match=r'holds no file \*\.jpg'):
        read_pictures(folder / 'empty')
    (folder / 'd.jpg').write_bytes(b'no picture')
    with pytest.raises(ValueError, match=r'cannot decode the image .*d\.jpg'):
        read_pictures(folder)


def test_least_side_is_twice_the_size_unless_given():
    assert PreparationCost(size=448).least_side == 896
    assert PreparationCost(size=448, min_side=500).least_side == 500


def test_decoders_give_the_same_pixels(folder):
    content = read_pictures(folder)[0]
    for min_side, shape in ((73, (72, 96, 3)), (36, (36, 48, 3)), (18, (18, 24, 3))):
        decoders = {k: f for k, f in list_decoders(min_side).items() if f is not None}
        reduced = decoders['opencv reduced'](content)
        assert reduced.shape == shape
        for name, decode in decoders.items():
            expected = reduced if 'reduced' in name else decoders['opencv'](content)
            # Other releases of libjpeg-turbo may round otherwise.
            assert np.abs(np.subtract(decode(content), expected, dtype=int)).max() <= 2, name


def test_what_is_not_installed_is_none(monkeypatch):
    monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
    missing = {name for name, function in list_decoders(32).items() if function is None}
    assert missing == {'torchvision', 'simplejpeg', 'simplejpeg reduced'}
    missing = {name for name, function in list_resizers().items() if function is None}
    assert missing == {'torchvision', 'torchvision antialias'}


def test_differences_by_hand():
    image = np.array([[0, 255, 10, 10]], np.uint8)
    other = np.array([[255, 0, 10, 12]], np.uint8)
    counts = difference(image, other)
    assert {int(k): int(counts[k]) for k in np.flatnonzero(counts)} == {0: 1, 2: 1, 255: 2}
    assert summarise_differences([counts]) == {'max': 255, 'mean': 128.0, 'p99': 255}
    same = difference(image, image)
    assert summarise_differences([same] * 200 + [counts]) == {
        'max': 255,
        'mean': pytest.approx(512 / 804),
        'p99': 0,
    }


def test_stages_and_decoders_are_timed(folder):
    pictures = read_pictures(folder)
    stages = measure_stages(pictures, COST)
    assert list(stages) == ['decode', 'crop and resize', 'flip', 'pack']
    assert min(stages.values()) > 0
    done: list[int] = []
    result = measure_decoder(pictures, 'opencv reduced', COST, done.append)
    assert done == [1, 2, 1, 2]
    assert result['decode']['pairs'] == result['pipeline']['pairs'] == 2
    assert 0 < result['mean'] < 10
    assert measure_decoder(pictures, 'pillow', COST)['max'] <= 2
    with pytest.raises(ValueError, match="'guess' is not installed; choose one of opencv, pillow"):
        measure_decoder(pictures, 'guess', COST)


def test_resizers_are_compared(folder):
    result = measure_resizer(read_pictures(folder), 'pillow', PreparationCost(size=64, pairs=2))
    assert result['resize']['ratio'] > 0
    assert result['max'] <= 2


def test_command_prints_and_returns_all(folder, capsys, monkeypatch):
    monkeypatch.setattr(cv2, 'setNumThreads', lambda threads: None)
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        'find_spec',
        lambda name, *a: None if name == 'simplejpeg' else find(name, *a),
    )
    parser = argparse.ArgumentParser()
    large_images.add_command(parser.add_subparsers())
    args = parser.parse_args(['data-large', str(folder), '--size', '16', '--pairs', '2'])
    results = args.run(args)
    printed = capsys.readouterr().out
    assert '3 pictures, to 16 px, reduced to at least 32 px' in printed
    lines = [line.split() for line in printed.splitlines()]
    assert ['simplejpeg', 'not', 'installed'] in lines
    assert results['decoders']['simplejpeg'] is None
    assert results['decoders']['opencv reduced']['pipeline']['ratio'] > 0
    assert results['resizers']['pillow']['resize']['pairs'] == 2
    assert set(results['stages']) == {'decode', 'crop and resize', 'flip', 'pack'}
