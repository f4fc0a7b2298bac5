"""tools/robustness.py from a training to its table, file and picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from matplotlib import rc_context
from mmengine.config import Config
from mmpretrain.registry import MODELS
from PIL import Image

from mmshufflemix.files import write_text
from mmshufflemix.robustness import EvaluatorMetric
from mmshufflemix.robustness import loop as loop_module
from tests.tiny_job import write_job, write_multi_label_job
from tests.tool_runner import run_tool

SHORT = ['--levels', '0.3', '--seeds', '0', '1']
EMA = (
    "_base_ = ['{config}']\n"
    "custom_hooks = [dict(type='EMAHook', momentum=0.5, priority='ABOVE_NORMAL')]\n"
)


@pytest.fixture(scope='module')
def job(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a config, with averaged weights, and a checkpoint of it."""
    folder = tmp_path_factory.mktemp('job')
    config = folder / 'averaged.py'
    config.write_text(EMA.format(config=write_job(folder)))
    run_tool('train', config, '--work-dir', folder / 'run', '--no-validate')
    return config, folder / 'run' / 'epoch_2.pth'


@pytest.fixture(scope='module')
def common(job: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a short study."""
    folder = tmp_path_factory.mktemp('common')
    study(job, folder, *SHORT)
    return folder / 'robustness.json'


def study(job: tuple[Path, Path], folder: Path, *options: str | Path) -> dict[str, Any]:
    out = folder / 'robustness.json'
    run_tool('robustness', *job, '--work-dir', folder / 'work', '--out', out, *options)
    return json.loads(out.read_text())


def tool_metrics(job: tuple[Path, Path], folder: Path) -> dict[str, float]:
    out = folder / 'metrics.json'
    options = ['--work-dir', folder / 'work', '--out-item', 'metrics', '--out', out]
    run_tool('test', *job, *options)
    return json.loads(out.read_text())


def test_table_file_and_picture(
    job: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = study(job, tmp_path, '--curve', '--mode', 'paper', 'all', '--plot', tmp_path / 'p.png')
    assert record['clean'] == pytest.approx(tool_metrics(job, tmp_path)['accuracy/top1'], abs=1e-4)
    found = [(r['noise'], r['mode'], r['level']) for r in record['results']]
    white = [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35]
    assert found == [('white', None, level) for level in white] + [
        ('salt_pepper', mode, level) for mode in ('paper', 'all') for level in (0.02, 0.04, 0.1)
    ]
    assert all(len(r['values']) == 5 for r in record['results'])
    assert record['seeds'] == [0, 1, 2, 3, 4]
    assert record['images'] == 12
    assert record['config'] == str(job[0])
    assert record['checkpoint'] == str(job[1])
    assert {'mmshufflemix', 'torch', 'mmpretrain'} <= record['versions'].keys()
    printed = capsys.readouterr().out
    assert f'| none | 0 | {record["clean"]:.2f} |' in printed
    assert '| salt & pepper (all) | 0.1 |' in printed
    assert Image.open(tmp_path / 'p.png').size == (3 * 990, 750)


def test_batch_size_and_memory_change_nothing(
    job: tuple[Path, Path], common: Path, tmp_path: Path
) -> None:
    expected = json.loads(common.read_text())
    options = ['--memory', '0', '--cfg-options', 'test_dataloader.batch_size=5']
    found = study(job, tmp_path, *SHORT, *options)
    assert found['results'] == expected['results']
    assert found['clean'] == expected['clean']


@pytest.mark.slow
def test_the_evaluator_gives_the_same_accuracy(
    job: tuple[Path, Path], common: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop_module, 'choose_metric', lambda model, *rest: EvaluatorMetric(*rest))
    quick, slow = json.loads(common.read_text()), study(job, tmp_path, *SHORT)
    assert slow['metric'] == quick['metric'] == 'accuracy/top1'
    assert slow['clean'] == pytest.approx(quick['clean'], abs=1e-4)
    for mine, theirs in zip(quick['results'], slow['results'], strict=True):
        assert theirs['values'] == pytest.approx(mine['values'], abs=1e-4)


def test_several_labels_an_image(tmp_path: Path) -> None:
    several = write_multi_label_job(tmp_path, lambda index: sorted({index % 3, index % 2}))
    torch.manual_seed(0)
    model = MODELS.build(Config.fromfile(several).model)
    torch.save({'state_dict': model.state_dict()}, tmp_path / 'model.pth')
    arguments = (several, tmp_path / 'model.pth')
    plain = tool_metrics(arguments, tmp_path)
    record = study(arguments, tmp_path, '--levels', '0.8', '--seeds', '0', '1')
    assert record['metric'] == 'multi-label/mAP'
    assert record['clean'] == pytest.approx(plain['multi-label/mAP'])
    assert record['results'][0]['std'] > 0


def test_studies_are_drawn_together(common: Path, tmp_path: Path) -> None:
    both = ['--draw', common, common, '--labels', 'first', 'second']
    run_tool('robustness', *both, '--plot', tmp_path / 'both.png')
    assert Image.open(tmp_path / 'both.png').size == (2 * 990, 750)


def test_studies_of_equal_file_names_are_all_drawn(common: Path, tmp_path: Path) -> None:
    files = [tmp_path / folder / 'noise.json' for folder in 'ab']
    for file in files:
        write_text(file, common.read_text())
    with rc_context({'svg.fonttype': 'none'}):
        run_tool('robustness', '--draw', *files, '--plot', tmp_path / 'both.svg')
    drawn = (tmp_path / 'both.svg').read_text()
    assert 'a/noise' in drawn
    assert 'b/noise' in drawn


def test_mistakes(job: tuple[Path, Path], tmp_path: Path) -> None:
    config, checkpoint = job
    with pytest.raises(FileNotFoundError, match="checkpoint 'nope.pth' does not exist"):
        run_tool('robustness', config, 'nope.pth')
    with pytest.raises(ValueError, match='salt_pepper noise must be from 0 to 1, got 3'):
        run_tool('robustness', *job, '--levels', '3')
    with pytest.raises(ValueError, match='cannot write a picture'):
        run_tool('robustness', *job, '--plot', tmp_path / 'x.doc')
    for option in ('--out', '--plot'):
        (tmp_path / 'x.png').mkdir(exist_ok=True)
        with pytest.raises(ValueError, match=r"cannot write to '.*x\.png', which is a folder"):
            run_tool('robustness', 'none.py', checkpoint, option, tmp_path / 'x.png')
    with pytest.raises(ValueError, match='memory must be .* got inf'):
        run_tool('robustness', config, 'nope.pth', '--memory', 'inf')
    without = tmp_path / 'without.py'
    without.write_text(
        f"_base_ = ['{config}']\ntest_dataloader = test_cfg = test_evaluator = None\n"
    )
    with pytest.raises(ValueError, match='no test_dataloader and test_evaluator'):
        run_tool('robustness', without, checkpoint)
    torch.save({'state_dict': {'conv.weight': torch.zeros(1)}}, tmp_path / 'other.pth')
    with pytest.raises(ValueError, match='lacks .* weights of this model'):
        run_tool('robustness', config, tmp_path / 'other.pth', '--work-dir', tmp_path / 'work')
    for options in (
        [config],
        ['--draw', 'x.json'],
        ['--draw', 'x.json', '--plot', 'x.png', '--labels', 'a', 'b'],
        ['--draw', 'x.json', 'y.json', '--plot', 'x.png', '--labels', 'a', 'a'],
        [*job, '--noise', 'salt_pepper', '--curve'],
    ):
        with pytest.raises(SystemExit):
            run_tool('robustness', *options)
