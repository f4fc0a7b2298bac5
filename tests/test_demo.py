from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mmshufflemix.demo import METHODS, comparison_table, prior_map, run_demo
from mmshufflemix.demo_pictures import draw_curves, draw_predictions, judge

REPO = Path(__file__).resolve().parents[1]


def _report(aps: list[float | None]) -> dict:
    rows = [
        {'class': 'zero', 'positives': 30, 'difficult': 0, 'AP': aps[0]},
        {'class': 'one', 'positives': 9, 'difficult': 10, 'AP': aps[1]},
        {'class': 'two', 'positives': 0, 'difficult': 0, 'AP': aps[2]},
    ]
    return {'images': 100, 'metrics': {'mAP': (aps[0] + aps[1]) / 2}, 'classes': rows}


def test_prior_is_the_mean_share_of_positives_among_counted_images():
    assert prior_map(_report([50.0, 60.0, None])) == pytest.approx((30 / 100 + 9 / 90) / 2 * 100)


def test_table_puts_the_methods_side_by_side():
    table = comparison_table({'A': _report([50.0, 60.0, None]), 'B': _report([1.0, 2.0, None])})
    assert [line.split() for line in table.splitlines()] == [
        ['class', 'A', 'B', 'class', 'prior'],
        ['zero', '50.0', '1.0', '30.0'],
        ['one', '60.0', '2.0', '10.0'],
        ['two', '-', '-', '0.0'],
        ['mAP', '55.0', '1.5', '20.0'],
    ]
    assert len({len(line) for line in table.splitlines()}) == 1


def test_verdicts():
    record = {
        'pred_score': [0.9, 0.5, 0.1, 0.8, 0.2, 0.0],
        'gt_label': [0, 2],
        'gt_label_difficult': [4],
    }
    assert judge(record) == [
        (0, 'right'),
        (3, 'wrong'),
        (1, 'wrong'),
        (4, 'difficult'),
        (2, 'missed'),
    ]


def test_pictures_are_written_whole_and_not_blank(tmp_path: Path):
    image = tmp_path / 'image.png'
    Image.new('RGB', (8, 8), 'red').save(image)
    record = {
        'img_path': str(image),
        'pred_score': [0.9, 0.1],
        'gt_label': [0],
        'gt_label_difficult': [],
    }
    draw_predictions(tmp_path / 'p.png', 'method', [record] * 2, ['zero', 'one'])
    draw_curves(tmp_path / 'c.png', {'method': ({1: 2.0, 2: 1.0}, {2: 50.0})})
    for name in ('p.png', 'c.png'):
        assert np.asarray(Image.open(tmp_path / name)).std() > 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ['c.png', 'image.png', 'p.png']


def test_no_epochs_are_refused(tmp_path: Path):
    with pytest.raises(ValueError, match='at least 1 epoch, got 0'):
        run_demo(tmp_path, tmp_path / 'work', epochs=0)


@pytest.mark.slow
def test_one_epoch_from_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    repo = tmp_path / 'repo'
    for name in ('configs', 'tools'):
        shutil.copytree(REPO / name, repo / name)
    work_dir = tmp_path / 'work'
    outcomes = run_demo(repo, work_dir, epochs=1, n_train=64, n_test=12)
    assert list(outcomes) == list(METHODS)
    for outcome in outcomes.values():
        assert outcome.report['images'] == len(outcome.records) == 12
        assert list(outcome.losses) == list(outcome.val_maps) == [1]
        assert math.isfinite(outcome.losses[1])
        assert outcome.val_maps[1] == pytest.approx(outcome.report['metrics']['mAP'], abs=1e-3)
    assert (work_dir / 'mlgcn_shufflemix' / 'label_graph.npz').is_file()
    assert (work_dir / 'predictions.png').is_file()
    assert (work_dir / 'training_curve.png').is_file()
    assert 'class prior' in capsys.readouterr().out


@pytest.mark.slow
def test_a_failing_tool_speaks_for_itself(tmp_path: Path):
    (tmp_path / 'tools').mkdir()
    (tmp_path / 'tools' / 'train.py').write_text("raise SystemExit('error: out of paper')")
    with pytest.raises(RuntimeError, match=r'^tools/train.py configs/.*\.py failed: out of paper$'):
        run_demo(tmp_path, tmp_path / 'work', n_train=4, n_test=2)


@pytest.mark.slow
def test_the_tool_ends_with_one_sentence():
    done = subprocess.run(
        [sys.executable, 'tools/demo.py', '--epochs', '0'],
        cwd=REPO,
        env={**os.environ, 'OMP_NUM_THREADS': '1'},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == 'error: the demo needs at least 1 epoch, got 0'
