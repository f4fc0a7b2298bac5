"""tools/predict.py, from a short training to labels."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mmshufflemix.checkpoint_schemes import use_safe_loading
from tests.test_inference.models import write_model, write_pictures
from tests.tiny_job import ROOT
from tests.tool_runner import call_tool, fail_tool, run_tool
from tests.voc_tree import SMALL_VOC_JOB, write_voc_tree

CONFIG = ROOT / 'configs' / 'voc07' / 'mlgcn_shufflemix.py'
OBJECTS = [['dog', 'person'], ['person', 'chair'], ['car'], ['cat'], ['aeroplane', 'car'], ['dog']]
IMAGES = {f'00000{i}': [(name, False) for name in names] for i, names in enumerate(OBJECTS)}
SMALL = [*SMALL_VOC_JOB, 'test_dataloader.batch_size=3', 'train_cfg.max_epochs=1']


def test_from_training_to_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores are those of tools/test.py, thresholds those of tools/tune_thresholds.py."""
    monkeypatch.chdir(tmp_path)
    splits = {'trainval': list(IMAGES), 'test': list(IMAGES)}
    root = write_voc_tree(tmp_path / 'data' / 'VOCdevkit' / 'VOC2007', IMAGES, splits)
    run_tool('train', CONFIG, '--work-dir', 'run', '--cfg-options', *SMALL)
    checkpoint = 'run/epoch_1.pth'
    run_tool(
        'test', CONFIG, checkpoint, '--out', 'r.json', '--work-dir', 'run', '--cfg-options', *SMALL
    )
    options = ['--names', checkpoint, '--min-support', '2', '--folds', '3']
    call_tool('tune_thresholds', 'r.json', '-o', 't.json', *options)
    # Neither data nor label graph are needed to predict.
    (root / 'JPEGImages').rename('pictures')
    for name in ('data', 'work_dirs'):
        if Path(name).exists():
            Path(name).rename(f'hidden_{name}')
    arguments = [CONFIG, checkpoint, 'pictures', '--threshold', 't.json', '--out', 'p.jsonl']
    run_tool('predict', *arguments, '--batch-size', '4', '--cfg-options', *SMALL)
    records = json.loads(Path('r.json').read_text())
    thresholds = json.loads(Path('t.json').read_text())['thresholds']
    predictions = [json.loads(line) for line in Path('p.jsonl').read_text().splitlines()]
    assert [prediction['path'] for prediction in predictions] == [
        f'pictures/{name}.jpg' for name in IMAGES
    ]
    for record, prediction in zip(records, predictions, strict=True):
        scores = prediction['all_scores']
        assert list(scores) == list(thresholds)
        np.testing.assert_allclose(list(scores.values()), record['pred_score'], rtol=1e-4)
        kept = {name for name, score in scores.items() if score >= thresholds[name]}
        assert set(prediction['names']) == kept
        assert prediction['scores'] == sorted(prediction['scores'], reverse=True)


@pytest.fixture(scope='module')
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A model whose class names are formulas."""
    return write_model(tmp_path_factory.mktemp('model'), classes=['=1+1', '@sum', 'owl'])


def test_a_broken_picture_is_skipped(
    model: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = [Path(path) for path in write_pictures(tmp_path / 'in', 5)]
    whole = paths[1].read_bytes()
    paths[1].write_bytes(whole[: len(whole) // 2])
    paths[3].write_text('not a picture')
    monkeypatch.chdir(tmp_path)
    names = ['in/p4.png', 'in/p1.png', 'in/p0.png', 'in/p3.png', 'gone.png', './in/p2.png']
    options = ['--out', 'out.csv', '--draw', 'drawn', '--threshold', '0', '--batch-size', '2']
    fail_tool('predict', *model, *names, *options)
    good = [names[0], names[2], names[5]]
    with open('out.csv', newline='') as file:
        header, *rows = list(csv.reader(file))
    assert header == ['path', 'names', 'scores', "'=1+1", "'@sum", 'owl']
    assert [row[0] for row in rows] == good
    assert not [cell for row in rows for cell in row if cell.startswith(('=', '+', '-', '@'))]
    assert sorted(path.name for path in Path('drawn').iterdir()) == ['p0.png', 'p2.png', 'p4.png']
    assert Image.open('drawn/p0.png').size[0] > 800
    printed = capsys.readouterr()
    table = printed.out.splitlines()
    start = next(index for index, line in enumerate(table) if line.startswith('picture'))
    assert [line.split()[0] for line in table[start + 1 : start + 4]] == good
    assert table[-2:] == ['wrote out.csv', 'wrote 3 drawings to drawn']
    *skipped, error = printed.err.splitlines()
    assert skipped[0].startswith('skipped in/p1.png: ')
    assert skipped[1:] == [
        'skipped in/p3.png: cannot be decoded as a picture',
        'skipped gone.png: no such file',
    ]
    assert error.startswith('error: 3 of 6 pictures could not be read and were skipped (in/p1.png')


def test_results_do_not_depend_on_the_batch(model: tuple[str, str], tmp_path: Path) -> None:
    write_pictures(tmp_path / 'in' / 'a', 3)
    write_pictures(tmp_path / 'in' / 'b', 2, (50, 20))
    lines = []
    for size in ('1', '4'):
        out = tmp_path / f'{size}.jsonl'
        run_tool('predict', *model, tmp_path / 'in', '--batch-size', size, '--out', out)
        lines.append([json.loads(line) for line in out.read_text().splitlines()])
    assert len(lines[0]) == 5
    for one, four in zip(*lines, strict=True):
        assert (one['path'], one['names']) == (four['path'], four['names'])
        expected = list(one['all_scores'].values())
        np.testing.assert_allclose(list(four['all_scores'].values()), expected, rtol=1e-4)


def test_mistakes_are_one_sentence(
    model: tuple[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    picture = write_pictures(tmp_path / 'in', 1)[0]
    (tmp_path / 'empty').mkdir()
    for arguments, message in (
        ([*model, tmp_path / 'empty'], 'no pictures found in'),
        ([*model, tmp_path / '*.gif'], 'no pictures found in'),
        ([*model, picture, '--out', 'x.xls'], "got 'x.xls'"),
        ([*model, picture, '--threshold', '1.5'], 'must be a number from 0 to 1, got 1.5'),
        ([*model, picture, '--threshold', 'no.json'], 'neither a number nor a file of thresholds'),
        ([model[0], 'no.pth', picture], "checkpoint 'no.pth' does not exist"),
        (['no.py', model[1], picture], "config 'no.py' does not exist"),
    ):
        fail_tool('predict', *arguments)
        error = capsys.readouterr().err
        assert message in error
        assert [line for line in error.splitlines() if line.startswith('error: ')] == [
            error.splitlines()[-1]
        ]
        assert 'Traceback' not in error


@pytest.fixture(autouse=True, scope='module')
def _safe() -> None:
    use_safe_loading()
