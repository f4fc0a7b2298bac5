"""Equal and similar pictures in and across splits."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageEnhance

from mmshufflemix.dataset_check import check_dataset
from mmshufflemix.dataset_check.alike import difference_hash, first_alike
from mmshufflemix.dataset_check.pictures import inspect_picture
from mmshufflemix.dataset_check.readers.json_folder import read_json_folder
from mmshufflemix.dataset_check.rows import DataSet, Row, Split
from tests.test_dataset_check.folders import CLASSES, items, smooth
from tests.tool_runner import call_tool

Entry = tuple[str, Image.Image, tuple[int, ...]]


def found_in(**splits: list[Entry]) -> dict:
    read = [
        Split(name, CLASSES, [Row(row, np.asarray(image), ids) for row, image, ids in rows])
        for name, rows in splits.items()
    ]
    wanted = ('leak', 'shared', 'contradiction', 'duplicate', 'near-leak', 'near-duplicate')
    found = items(check_dataset(DataSet('x', 'y', read)).findings)
    return {key: value for key, value in found.items() if key[0] in wanted}


def saved_again(image: Image.Image) -> Image.Image:
    buffer = io.BytesIO()
    image.save(buffer, 'JPEG', quality=40)
    return Image.open(buffer)


def test_equal_pictures() -> None:
    a, b, c = smooth(1), smooth(2), smooth(3)
    assert found_in(
        train=[('1', a, (0,)), ('2', a, (0,)), ('3', b, (0,)), ('4', b, (1,)), ('5', c, ())],
        val=[('6', c, ()), ('7', smooth(4), ())],
        test=[('8', smooth(4), ())],
    ) == {
        ('leak', 'train, val'): ('train 5 = val 6',),
        ('contradiction', 'train'): ('3 = 4',),
        ('shared', 'val, test'): ('val 7 = test 8',),
        ('duplicate', 'train'): ('1 = 2',),
    }


def test_changed_copies_look_alike_and_other_pictures_do_not() -> None:
    pictures = [smooth(seed) for seed in range(60)]
    train = [(f'{seed}', image, ()) for seed, image in enumerate(pictures)]
    copies = [
        ('small', pictures[0].resize((40, 32)), ()),
        ('again', saved_again(pictures[1]), ()),
        ('light', ImageEnhance.Brightness(pictures[2]).enhance(1.05), ()),
        ('cut', pictures[3].crop((1, 1, 79, 63)), ()),
    ]
    found = found_in(train=[*train, ('twice', saved_again(pictures[9]), ())], val=copies)
    assert found == {
        ('near-duplicate', 'train'): ('9 ~ twice',),
        ('near-leak', 'train, val'): (
            'train 0 ~ val small',
            'train 1 ~ val again',
            'train 2 ~ val light',
            'train 3 ~ val cut',
        ),
    }


def test_flat_and_nearly_flat_pictures_are_not_taken_for_copies() -> None:
    red, blue = Image.new('RGB', (64, 64), 'red'), Image.new('RGB', (64, 64), 'blue')
    rng = np.random.default_rng(0)
    faint = [
        Image.fromarray(rng.integers(100, 104, (64, 64, 3)).astype(np.uint8)) for _ in range(3)
    ]
    train = [('1', red, (0,)), ('2', red, (1,)), ('3', blue, ()), ('4', faint[0], ())]
    assert found_in(train=train, val=[('5', red, ()), ('6', faint[1], ())]) == {}


def test_first_alike_agrees_with_comparing_all_pairs() -> None:
    rng = np.random.default_rng(0)
    small = rng.integers(0, 256, (400, 8, 9, 3), dtype=np.uint8)
    for index in range(0, 400, 3):
        source = small[rng.integers(400)].astype(int)
        noisy = source + rng.normal(0, rng.uniform(0, 25), source.shape)
        small[index] = noisy.clip(0, 255).astype(np.uint8)
    hashes = difference_hash(small)
    expected = list(range(400))
    for later in range(400):
        for earlier in range(later):
            bits = int((hashes[later] != hashes[earlier]).sum())
            distance = small[later].astype(float) - small[earlier]
            if bits <= 6 and np.sqrt((distance**2).mean()) <= 15:
                expected[later] = earlier
                break
    found = first_alike(small).tolist()
    assert found == expected
    assert 5 < sum(index != earlier for index, earlier in enumerate(found)) < 200


def test_hash_of_a_ramp() -> None:
    ramp = np.tile(np.arange(0, 90, 10, dtype=np.uint8)[None, None, :, None], (1, 8, 1, 3))
    assert difference_hash(ramp).all()
    assert not difference_hash(ramp[:, :, ::-1]).any()
    assert difference_hash(ramp).shape == (1, 64)


def test_a_picture_without_pixels() -> None:
    assert inspect_picture(np.zeros((0, 0, 3), dtype=np.uint8)).fault


@pytest.mark.parametrize('options', [[], ['--folds', '3']])
def test_what_the_split_tool_writes_has_no_leak(tmp_path: Path, options: list[str]) -> None:
    """The list that was split, and other folds, hold the same pictures and are no other split."""
    rows = [{'img_path': f'{index}.png', 'gt_label': [index % 2]} for index in range(12)]
    (tmp_path / 'images').mkdir()
    for row in rows:
        pixels = np.random.default_rng(int(row['img_path'][:-4])).integers(0, 256, (9, 9, 3))
        Image.fromarray(pixels.astype(np.uint8)).save(tmp_path / 'images' / row['img_path'])
    everything = tmp_path / 'all.json'
    everything.write_text(json.dumps({'metainfo': {'classes': ['a', 'b']}, 'data_list': rows}))
    call_tool('split_dataset', everything, '-o', tmp_path, *options)
    result = check_dataset(read_json_folder(tmp_path))
    assert result.count('error') == 0
    assert 'all' not in result.statistics
    # A true leak is still seen.
    leaking = next(path for path in tmp_path.glob('*val.json'))
    content = json.loads(leaking.read_text())
    train = json.loads((tmp_path / leaking.name.replace('val', 'train')).read_text())
    content['data_list'].append(train['data_list'][0])
    leaking.write_text(json.dumps(content))
    result = check_dataset(read_json_folder(tmp_path))
    assert [found.kind for found in result.findings if found.severity == 'error'] == ['leak']
