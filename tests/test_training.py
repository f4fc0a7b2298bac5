"""Training by a config: what is refused before the first step."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from mmengine.evaluator import BaseMetric, Evaluator
from mmpretrain.evaluation import Accuracy, MultiLabelMetric, SingleLabelMetric
from torch.utils.data import DataLoader

from mmshufflemix.hooks.train_check_hook import check_batches, check_topk
from mmshufflemix.training import earlier_run
from tests.tiny_job import write_job
from tests.tool_runner import run_tool


@pytest.mark.parametrize('text', ['', 'param_scheduler = dict(convert_to_iter_based=True)\n'])
def test_a_batch_larger_than_the_training_set(tmp_path: Path, text: str) -> None:
    config = write_job(tmp_path)
    larger = tmp_path / 'larger.py'
    larger.write_text(f"_base_ = ['{config}']\n{text}train_dataloader = dict(batch_size=13)\n")
    with pytest.raises(ValueError, match='its 12 images do not fill one of 13'):
        run_tool('train', larger, '--work-dir', tmp_path / 'run')
    for way_out in ('train_dataloader.batch_size=12', 'train_dataloader.drop_last=False'):
        options = ['--no-validate', '--cfg-options', way_out, 'train_cfg.max_epochs=1']
        run_tool('train', larger, '--work-dir', tmp_path / way_out, *options)
        assert (tmp_path / way_out / 'epoch_1.pth').is_file()


def test_images_are_shared_among_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('mmshufflemix.hooks.train_check_hook.dist.get_world_size', lambda: 2)
    data = list(range(12))
    check_batches(DataLoader(data, batch_size=6, sampler=range(6), drop_last=True))
    check_batches(DataLoader(data, batch_size=8, sampler=range(6), drop_last=False))
    loader = DataLoader(data, batch_size=8, sampler=range(6), drop_last=True)
    with pytest.raises(ValueError, match='its 12 images, 6 for each of 2 proc'):
        check_batches(loader)
    with pytest.raises(ValueError, match='batch_size to 6 or less'):
        check_batches(loader)


def test_a_metric_of_more_classes_than_there_are(tmp_path: Path) -> None:
    """As MMPretrain's top five of ImageNet, which failed after an epoch."""
    config = write_job(tmp_path)
    run = ['--work-dir', tmp_path / 'run']
    options = ['--cfg-options', 'val_evaluator.topk=(1,5)']
    advice = r'has Accuracy with topk=\(1, 5\), but the head has num_classes=3; set {0}=dict\(type='
    advice += r"'Accuracy', topk=\(1,\)\)\."
    with pytest.raises(ValueError, match='val_evaluator ' + advice.format('val_evaluator')):
        run_tool('train', config, *run, *options)
    assert not list((tmp_path / 'run').glob('*.pth'))
    run_tool('train', config, *run, '--no-validate')
    test = ['test', config, tmp_path / 'run' / 'epoch_1.pth', *run]
    with pytest.raises(ValueError, match='val_evaluator ' + advice.format('val_evaluator')):
        run_tool(*test, '--split', 'val', *options)
    options = ['--cfg-options', 'test_evaluator.topk=(1,5)']
    for more in ([], ['--tta']):
        with pytest.raises(ValueError, match='test_evaluator ' + advice.format('test_evaluator')):
            run_tool(*test, *more, *options)


@pytest.mark.parametrize(
    ('metric', 'fits'),
    [
        (Accuracy(topk=3), True),
        (Accuracy(topk=(1, 4)), False),
        (MultiLabelMetric(topk=3), True),
        (MultiLabelMetric(topk=4), False),
        (MultiLabelMetric(topk=4, thr=0.5), True),
        (MultiLabelMetric(), True),
        (SingleLabelMetric(), True),
    ],
)
def test_what_a_metric_looks_at(metric: BaseMetric, fits: bool) -> None:
    loop = SimpleNamespace(evaluator=Evaluator([metric]))
    model = SimpleNamespace(head=SimpleNamespace(num_classes=3))
    with nullcontext() if fits else pytest.raises(ValueError, match='num_classes=3; set x=dict'):
        check_topk(loop, model, 'x')
    check_topk(loop, SimpleNamespace(), 'x')
    check_topk(SimpleNamespace(), model, 'x')


def test_checkpoints_of_an_earlier_run_are_not_written_over_silently(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, run = write_job(tmp_path), tmp_path / 'run'
    arguments = [config, '--work-dir', run, '--no-validate']
    said = []
    for more in (['--resume'], [], ['--resume', '--cfg-options', 'train_cfg.max_epochs=3']):
        run_tool('train', *arguments, *more)
        said.append(''.join(capsys.readouterr()))
    sentence = f"'{run}' has checkpoints of an earlier run (newest epoch_2.pth): this run starts "
    assert [text.count(sentence) for text in said] == [0, 1, 0]
    assert 'WARNING' in next(line for line in said[1].splitlines() if sentence in line)
    assert said[1].index(sentence) < said[1].index('Epoch(train)')


def test_what_is_no_earlier_run(tmp_path: Path) -> None:
    """No folder, nothing whole in it, or a marker that leads elsewhere."""
    run, other = tmp_path / 'run', tmp_path / 'other' / 'epoch_1.pth'
    assert earlier_run(str(run)) == ''
    for folder in (run, other.parent):
        folder.mkdir()
    (run / 'epoch_1.pth').write_bytes(b'torn')
    assert earlier_run(str(run)) == ''
    torch.save({}, other)
    (run / 'last_checkpoint').write_text(str(other))
    assert earlier_run(str(run)) == ''
    torch.save({}, run / 'epoch_1.pth')
    (run / 'last_checkpoint').unlink()
    assert '(newest epoch_1.pth)' in earlier_run(str(run))
