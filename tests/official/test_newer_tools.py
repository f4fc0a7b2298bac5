"""The newer tools on one short training, with whatever stack is installed.

``make test-official`` runs this with OpenMMLab's own last releases; what each tool does in detail
is tested in tests/test_tools.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from PIL import Image

from mmshufflemix.checkpoint import load_checkpoint_file
from tests.test_tools.test_predict_tool import CONFIG, IMAGES, SMALL
from tests.tiny_job import write_job
from tests.tool_runner import call_tool, run_tool
from tests.voc_tree import write_voc_tree

CHECKPOINT = 'run/epoch_1.pth'
RECORDS = 'run/predictions.json'


@pytest.fixture(scope='module')
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ML-GCN with ShuffleMix, trained and tested on six pictures, with thresholds."""
    folder = tmp_path_factory.mktemp('newer')
    splits = {'trainval': list(IMAGES), 'test': list(IMAGES)}
    write_voc_tree(folder / 'data' / 'VOCdevkit' / 'VOC2007', IMAGES, splits)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run_tool('train', CONFIG, '--work-dir', 'run', '--cfg-options', *SMALL)
        out = ['--split', 'val', '--out', RECORDS, '--work-dir', 'run']
        run_tool('test', CONFIG, CHECKPOINT, *out, '--cfg-options', *SMALL)
        names = ['--names', CHECKPOINT, '--min-support', '2', '--folds', '0']
        call_tool('tune_thresholds', RECORDS, '-o', 'thresholds.json', *names)
    return folder


@pytest.fixture
def scores(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """Scores of tools/test.py, (picture, class); the work folder is the current one."""
    monkeypatch.chdir(workplace)
    return np.array([record['pred_score'] for record in json.loads(Path(RECORDS).read_text())])


def pictures() -> list[Path]:
    return sorted(Path('data').rglob('*.jpg'))


@pytest.mark.slow
def test_predict(scores: np.ndarray) -> None:
    thresholds = json.loads(Path('thresholds.json').read_text())['thresholds']
    options = ['--threshold', 'thresholds.json', '--out', 'labels.jsonl', '--draw', 'drawn']
    run_tool('predict', CONFIG, CHECKPOINT, *pictures(), *options, '--cfg-options', *SMALL)
    rows = [json.loads(line) for line in Path('labels.jsonl').read_text().splitlines()]
    found = [[row['all_scores'][name] for name in thresholds] for row in rows]
    np.testing.assert_allclose(found, scores, rtol=1e-4)
    for row in rows:
        kept = {name for name, score in row['all_scores'].items() if score >= thresholds[name]}
        assert set(row['names']) == kept
    assert len(list(Path('drawn').iterdir())) == len(IMAGES)


@pytest.mark.slow
def test_explain(scores: np.ndarray) -> None:
    names = list(json.loads(Path('thresholds.json').read_text())['thresholds'])
    options = ['-o', 'heat', '--raw', '--classes', 'dog', 'person']
    run_tool('explain', CONFIG, CHECKPOINT, *pictures()[:2], *options, '--cfg-options', *SMALL)
    for path, row in zip(pictures()[:2], scores, strict=False):
        with np.load(Path('heat') / f'{path.stem}.npz') as found:
            expected = [row[names.index(name)] for name in ('dog', 'person')]
            np.testing.assert_allclose(found['scores'], expected, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.usefixtures('scores')
def test_export() -> None:
    options = ['-o', 'model.onnx', '--threshold', 'thresholds.json']
    run_tool('export_onnx', CONFIG, CHECKPOINT, *options, '--cfg-options', *SMALL)
    # A picture of the pipeline's size, so that both get the same pixels.
    pixels = np.random.default_rng(3).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(pixels).save('noise.png')
    run_tool(
        'predict', CONFIG, CHECKPOINT, 'noise.png', '--out', 'n.jsonl', '--cfg-options', *SMALL
    )
    expected = list(json.loads(Path('n.jsonl').read_text())['all_scores'].values())
    images = pixels.transpose(2, 0, 1)[None].astype(np.float32)
    found = onnxruntime.InferenceSession('model.onnx').run(['scores'], {'images': images})[0]
    np.testing.assert_allclose(found[0], expected, atol=1e-5)


@pytest.mark.slow
@pytest.mark.usefixtures('scores')
def test_report() -> None:
    call_tool('report', 'run', '--thresholds', 'thresholds.json')
    page = Path('run/report.html').read_text()
    assert 'data:image/' in page
    assert 'person' in page


@pytest.mark.slow
def test_the_fast_path_learns_and_tests_alike(tmp_path: Path) -> None:
    config, work_dir = write_job(tmp_path), tmp_path / 'run'
    fast = 'runner_type=SmallImageRunner'
    run_tool('train', config, '--work-dir', work_dir, '--cfg-options', fast)
    checkpoint = work_dir / 'epoch_2.pth'
    state = load_checkpoint_file(checkpoint)['state_dict']
    assert all(torch.isfinite(value).all() for value in state.values())
    found = {}
    for name, options in (('ordinary', []), ('fast', ['--cfg-options', fast])):
        out = tmp_path / f'{name}.json'
        run_tool('test', config, checkpoint, '--out', out, '--work-dir', tmp_path, *options)
        found[name] = [record['pred_score'] for record in json.loads(out.read_text())]
    assert len(found['fast']) == 12
    np.testing.assert_allclose(found['fast'], found['ordinary'], rtol=1e-4)


@pytest.mark.slow
def test_benchmark_of_loading(capsys: pytest.CaptureFixture[str]) -> None:
    call_tool('benchmark', 'data', '--pairs', '2', '--images', '16', '--batch-size', '8')
    assert 'speedup' in capsys.readouterr().out
