"""tools/explain.py, from a short training to heat maps."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pytest
from mmengine.config import DictAction
from PIL import Image

from mmshufflemix.checkpoint_schemes import use_safe_loading
from mmshufflemix.inference import MultiLabelInferencer
from tests.test_inference.models import write_model, write_pictures
from tests.test_tools.test_predict_tool import CONFIG, IMAGES, SMALL
from tests.tool_runner import fail_tool, run_tool
from tests.voc_tree import write_voc_tree

PIPELINE = [
    dict(type='LoadImageFromFile'),
    dict(type='Resize', scale=(96, 64)),
    dict(type='PackInputs'),
]


@pytest.fixture(autouse=True, scope='module')
def _safe() -> None:
    use_safe_loading()


@pytest.fixture(scope='module')
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return write_model(tmp_path_factory.mktemp('model'), 'MLGCNHead', pipeline=PIPELINE)


def test_from_training_to_heat_maps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    splits = {'trainval': list(IMAGES), 'test': list(IMAGES)}
    write_voc_tree(tmp_path / 'data' / 'VOCdevkit' / 'VOC2007', IMAGES, splits)
    run_tool('train', CONFIG, '--work-dir', 'run', '--cfg-options', *SMALL)
    pictures = sorted(Path('data').rglob('*.jpg'))[:2]
    arguments = [CONFIG, 'run/epoch_1.pth', *pictures, '-o', 'out', '--raw']
    run_tool('explain', *arguments, '--classes', 'dog', 'person', '--cfg-options', *SMALL)
    assert sorted(path.name for path in Path('out').iterdir()) == [
        f'{path.stem}.{ending}' for path in pictures for ending in ('npz', 'png')
    ]
    parser = argparse.ArgumentParser()
    parser.add_argument('--options', nargs='+', action=DictAction)
    options = parser.parse_args(['--options', *SMALL]).options
    infer = MultiLabelInferencer(str(CONFIG), 'run/epoch_1.pth', 'cpu', options=options)
    printed = capsys.readouterr().out
    for path in pictures:
        scores = dict(zip(infer.classes, infer(str(path))[0]['all_scores'], strict=True))
        with np.load(Path('out') / f'{path.stem}.npz') as found:
            assert found['names'].tolist() == ['dog', 'person']
            expected = [scores['dog'], scores['person']]
            np.testing.assert_allclose(found['scores'], expected, rtol=1e-4)
            with Image.open(path) as picture:
                assert found['maps'].shape == (2, picture.height, picture.width)
            assert found['maps'].min() >= 0
            assert found['maps'].max() <= 1
        assert f'dog {scores["dog"]:.2f}, person {scores["person"]:.2f}' in printed
    assert printed.endswith('wrote 2 pictures to out\n')


def test_a_broken_picture_is_skipped(
    model: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = [Path(path) for path in write_pictures(tmp_path / 'in', 3)]
    paths[1].write_bytes(paths[1].read_bytes()[:200])
    (tmp_path / 'more').mkdir()
    paths[0].rename(tmp_path / 'more' / 'p2.png')
    monkeypatch.chdir(tmp_path)
    fail_tool('explain', *model, 'in', 'more', 'gone.png', '-o', 'out', '--threshold', '0')
    assert sorted(path.name for path in Path('out').iterdir()) == ['p2.png', 'p2_2.png']
    with Image.open('out/p2.png') as picture:
        # Three classes and the picture: two rows.
        assert picture.size[0] > 900
        assert picture.size[1] > 450
    error = capsys.readouterr().err
    assert 'skipped in/p1.png: ' in error
    assert 'skipped gone.png: no such file' in error
    assert 'error: 2 of 4 pictures could not be read and were skipped (in/p1.png' in error


def test_without_a_prediction_the_highest_class_is_shown(
    model: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = write_pictures(tmp_path / 'in', 1)[0]
    run_tool('explain', *model, picture, '-o', tmp_path / 'out', '--threshold', '1', '--raw')
    scores = MultiLabelInferencer(*model)(picture)[0]['all_scores']
    name = ('cat', 'dog', 'owl')[int(scores.argmax())]
    assert (
        f'{picture}  {name} {scores.max():.2f} (below its threshold)\n' in capsys.readouterr().out
    )
    with np.load(tmp_path / 'out' / 'p0.npz') as found:
        assert found['names'].tolist() == [name]


def test_a_class_that_is_only_asked_for_is_marked(
    model: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = write_pictures(tmp_path / 'in', 1)[0]
    scores = MultiLabelInferencer(*model)(picture)[0]['all_scores']
    low, middle, high = np.argsort(scores)
    limit = str((scores[middle] + scores[high]) / 2)
    names = [('cat', 'dog', 'owl')[k] for k in (high, low)]
    arguments = [*model, picture, '-o', tmp_path / 'out', '--threshold', limit, '--raw']
    run_tool('explain', *arguments, '--classes', *names)
    text = f'{names[0]} {scores[high]:.2f}, {names[1]} {scores[low]:.2f} (below its threshold)'
    assert f'{picture}  {text}\n' in capsys.readouterr().out
    with np.load(tmp_path / 'out' / 'p0.npz') as found:
        assert found['reached'].tolist() == [True, False]


def test_mistakes_are_one_sentence(
    model: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    picture = write_pictures(tmp_path / 'in', 1)[0]
    out = ['-o', tmp_path / 'out']
    (tmp_path / 'file').write_text('')
    for arguments, message in (
        ([*model, tmp_path / '*.gif', *out], 'no pictures found in'),
        ([*model, picture, '-o', tmp_path / 'file'], 'is a file and no folder'),
        ([*model, picture, *out, '--classes', 'dgo'], "the model has no class 'dgo'; its classes"),
        ([*model, picture, *out, '--layer', 'layer9'], "unknown layer 'layer9'; choose"),
        ([*model, picture, *out, '--layer', '7'], 'layer 7 does not exist'),
        ([*model, picture, *out, '--layer', 'neck'], 'have no positions in the picture; name'),
        ([*model, picture, *out, '--threshold', '2'], 'must be a number from 0 to 1, got 2'),
        ([model[0], 'no.pth', picture, *out], "checkpoint 'no.pth' does not exist"),
    ):
        fail_tool('explain', *arguments)
        error = capsys.readouterr().err
        assert message in error
        assert len([line for line in error.splitlines() if line.startswith('error: ')]) == 1
        assert 'Traceback' not in error
    monkeypatch.setattr('mmshufflemix.explain.methods.find_spec', lambda name: None)
    fail_tool('explain', *model, picture, *out)
    assert capsys.readouterr().err.splitlines()[-1] == (
        'error: heat maps need the package grad-cam, which is not installed: run '
        "'pip install -r requirements/explain.txt'."
    )
    assert not (tmp_path / 'out').exists()
