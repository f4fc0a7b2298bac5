"""tools/test.py and its launchers."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from mmengine.config import Config
from mmpretrain.registry import MODELS

from mmshufflemix.checkpoint_schemes import use_safe_loading
from mmshufflemix.evaluation.dump_predictions import DumpPredictions, to_plain, write_results
from mmshufflemix.evaluation.settings import add_tta
from tests.test_checkpoint import Evil
from tests.tiny_job import ROOT, write_job, write_multi_label_job
from tests.tool_runner import run_processes, run_tool


@pytest.fixture(scope='module')
def job(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a config and a checkpoint of it."""
    folder = tmp_path_factory.mktemp('job')
    config = write_job(folder)
    run_tool('train', config, '--work-dir', folder / 'run', '--no-validate')
    return config, folder / 'run' / 'epoch_2.pth'


def expected_paths(config: Path) -> list[str]:
    """Return the pictures in the order of CustomDataset: by folder, then by name."""
    return [str(path) for path in sorted((config.parent / 'pictures').glob('*/*.png'))]


def test_predictions_in_the_order_of_the_data_set(job: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / 'out.json'
    run_tool('test', *job, '--work-dir', tmp_path, '--out', out)
    records = json.loads(out.read_text())
    assert [record['img_path'] for record in records] == expected_paths(job[0])
    assert [record['sample_idx'] for record in records] == list(range(12))
    for record in records:
        assert record['pred_label'] == [int(np.argmax(record['pred_score']))]
        assert record['gt_label'] == ['abc'.index(Path(record['img_path']).parent.name)]


def test_pickle_has_mmpretrains_structure(job: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / 'out.pkl'
    run_tool('test', *job, '--work-dir', tmp_path, '--out', out)
    records = pickle.loads(out.read_bytes())
    assert len(records) == 12
    assert isinstance(records[0]['pred_score'], torch.Tensor)
    assert records[0]['img_path'] == expected_paths(job[0])[0]


def test_metrics_and_test_time_augmentation(job: tuple[Path, Path], tmp_path: Path) -> None:
    plain, mirrored = tmp_path / 'plain.json', tmp_path / 'mirrored.json'
    common = ['--work-dir', tmp_path, '--out-item', 'metrics', '--out']
    run_tool('test', *job, *common, plain)
    run_tool('test', *job, *common, mirrored, '--tta')
    for path in (plain, mirrored):
        assert list(json.loads(path.read_text())) == ['accuracy/top1']


def test_augmentation_of_small_images_in_memory(job: tuple[Path, Path], tmp_path: Path) -> None:
    """The ordinary runner takes over, so the scores are its own; without --tta they are equal."""
    fast = tmp_path / 'fast.py'
    runner = ROOT / 'configs' / '_base_' / 'fast_small_images.py'
    fast.write_text(f"_base_ = ['{job[0]}', '{runner}']\n")

    def scores(config: Path, *options: str) -> list[list[float]]:
        out = tmp_path / 'out.json'
        run_tool('test', config, job[1], '--work-dir', tmp_path, '--out', out, *options)
        return [record['pred_score'] for record in json.loads(out.read_text())]

    plain, mirrored = scores(fast), scores(fast, '--tta')
    np.testing.assert_allclose(plain, scores(job[0]), rtol=1e-5)
    np.testing.assert_allclose(mirrored, scores(job[0], '--tta'), rtol=1e-5)
    assert not np.allclose(mirrored, plain)


def test_the_validation_set(job: tuple[Path, Path], tmp_path: Path) -> None:
    """Other pictures and another metric than the test has; a test in the config is not needed."""
    config = tmp_path / 'parts.py'
    config.write_text(
        f"_base_ = ['{job[0]}']\n"
        'val_dataloader = dict(dataset=dict(indices=5))\n'
        "val_evaluator = dict(_delete_=True, type='SingleLabelMetric')\n"
    )
    alone = tmp_path / 'alone.py'
    alone.write_text(f"_base_ = ['{config}']\ntest_dataloader = test_evaluator = test_cfg = None\n")
    out = tmp_path / 'out.json'

    def run(config: Path, *options: str) -> object:
        run_tool('test', config, job[1], '--work-dir', tmp_path / 'run', '--out', out, *options)
        return json.loads(out.read_text())

    val, test = run(config, '--split', 'val'), run(config)
    assert [record['img_path'] for record in val] == expected_paths(job[0])[:5]
    assert [record['img_path'] for record in test] == expected_paths(job[0])
    assert run(alone, '--split', 'val') == val
    assert run(config, '--split', 'test') == test
    metrics = ['--out-item', 'metrics']
    assert list(run(config, *metrics)) == ['accuracy/top1']
    assert 'single-label/precision' in run(config, *metrics, '--split', 'val')
    views = run(config, '--split', 'val', '--tta')
    assert [record['img_path'] for record in views] == expected_paths(job[0])[:5]


@pytest.mark.parametrize('missing', ['val_dataloader', 'val_evaluator'])
def test_no_validation_set(missing: str, job: tuple[Path, Path], tmp_path: Path) -> None:
    config = tmp_path / 'without.py'
    config.write_text(f"_base_ = ['{job[0]}']\n{missing} = None\n")
    with pytest.raises(ValueError, match=rf'has no {missing}, which --split val needs; add it'):
        run_tool('test', config, job[1], '--split', 'val')


def test_labels_of_averaged_scores(tmp_path: Path) -> None:
    """Several labels an image: they belong to the averages, not to one of the views."""
    several = write_multi_label_job(tmp_path, lambda index: [index % 3])
    cfg = Config.fromfile(several)
    torch.manual_seed(0)
    model = MODELS.build(cfg.model)
    torch.save({'state_dict': model.state_dict()}, tmp_path / 'model.pth')
    arguments = [several, tmp_path / 'model.pth', '--work-dir', tmp_path / 'run']
    scores = {}
    for name, options in (('tta', ['--tta']), ('plain', [])):
        out = tmp_path / f'{name}.json'
        run_tool('test', *arguments, '--out', out, *options)
        records = json.loads(out.read_text())
        scores[name] = [record['pred_score'] for record in records]
        for record in records:
            assert record['pred_label'] == [int(np.argmax(record['pred_score']))]
    assert scores['tta'] != scores['plain']


@pytest.mark.parametrize('own', [None, 'AverageClsScoreTTA', 'OwnTTA'])
def test_the_model_that_averages(own: str | None) -> None:
    """A tta_model of another class stays."""
    for head, expected in (
        ('MultiLabelLinearClsHead', 'MultiLabelTTA'),
        ('MLGCNHead', 'MultiLabelTTA'),
        ('LinearClsHead', 'AverageClsScoreTTA'),
    ):
        dataset = dict(pipeline=[dict(type='PackInputs')])
        cfg = Config(dict(model=dict(head=dict(type=head)), test_dataloader=dict(dataset=dataset)))
        if own is not None:
            cfg.tta_model = dict(type=own)
        add_tta(cfg, 'test')
        wanted = own if own == 'OwnTTA' else expected
        assert cfg.model.type.split('.')[-1] == wanted
        assert cfg.model.module.head.type == head


def test_pictures(job: tuple[Path, Path], tmp_path: Path) -> None:
    shown = tmp_path / 'shown'
    run_tool('test', *job, '--work-dir', tmp_path, '--show-dir', shown, '--interval', '2')
    assert len(list(shown.glob('*.png'))) == 6


@pytest.mark.slow
@pytest.mark.parametrize('split', ['test', 'val'])
def test_two_processes_write_the_same(split: str, job: tuple[Path, Path], tmp_path: Path) -> None:
    one, two = tmp_path / 'one.json', tmp_path / 'two.json'
    # 7 pictures do not divide by 2: one is seen twice and must appear once.
    options = ['--split', split, '--cfg-options', f'{split}_dataloader.dataset.indices=7']
    run_tool('test', *job, '--work-dir', tmp_path, '--out', one, *options)
    result = run_processes('dist_test', *job, 2, '--work-dir', tmp_path, '--out', two, *options)
    assert result.returncode == 0, result.stderr[-3000:]
    first, second = json.loads(one.read_text()), json.loads(two.read_text())
    assert len(first) == 7
    for expected, record in zip(first, second, strict=True):
        np.testing.assert_allclose(record.pop('pred_score'), expected.pop('pred_score'), rtol=1e-5)
        assert record == expected


def test_mistakes(job: tuple[Path, Path], tmp_path: Path) -> None:
    config, checkpoint = job
    with pytest.raises(FileNotFoundError, match="checkpoint 'nope.pth' does not exist"):
        run_tool('test', config, 'nope.pth')
    with pytest.raises(ValueError, match=r"\.json, \.pkl, \.pickle, got 'x\.txt'"):
        run_tool('test', *job, '--out', 'x.txt')
    with pytest.raises(SystemExit):
        run_tool('test', *job, '--out-item', 'metrics')
    with pytest.raises(SystemExit):
        run_tool('test', *job, '--tta', '--show-dir', 'x')
    without = tmp_path / 'without.py'
    without.write_text(f"_base_ = ['{config}']\ntest_dataloader = None\n")
    with pytest.raises(ValueError, match='has no test_dataloader'):
        run_tool('test', without, checkpoint)
    larger = ['--work-dir', tmp_path, '--cfg-options', 'model.head.num_classes=4']
    for tta in ([], ['--tta']):
        with pytest.raises(ValueError, match=r'head\.fc\.weight \(3, 32\) for \(4, 32\)'):
            run_tool('test', *job, *tta, *larger)
    classes = 'test_dataloader.dataset.classes=[a,c,b]'
    with pytest.raises(ValueError, match='same classes in another order'):
        run_tool('test', *job, '--work-dir', tmp_path, '--cfg-options', classes)


@pytest.mark.parametrize('split', ['test', 'val'])
def test_augmentation_needs_a_pipeline(split: str, job: tuple[Path, Path], tmp_path: Path) -> None:
    """The message names the loader that the user wrote."""
    wrapped = tmp_path / 'wrapped.py'
    wrapped.write_text(
        f"_base_ = ['{job[0]}']\n"
        f"{split}_dataloader = dict(dataset=dict(_delete_=True, type='RepeatDataset', times=2,\n"
        f'    dataset=_base_.{split}_dataloader.dataset))\n'
    )
    message = rf'needs a pipeline in {split}_dataloader\.dataset, and RepeatDataset has none'
    with pytest.raises(ValueError, match=message):
        run_tool('test', wrapped, job[1], '--tta', '--split', split)


def test_code_in_a_checkpoint_does_not_run(job: tuple[Path, Path], tmp_path: Path) -> None:
    evil, target = tmp_path / 'evil.pth', tmp_path / 'made_by_pickle'
    torch.save({'state_dict': {}, 'meta': Evil(target)}, evil)
    use_safe_loading()
    with pytest.raises(ValueError, match='asks for more than data'):
        run_tool('test', job[0], evil, '--work-dir', tmp_path)
    assert not target.exists()


def test_records_need_an_index(tmp_path: Path) -> None:
    dump = DumpPredictions(str(tmp_path / 'out.json'))
    with pytest.raises(ValueError, match="without 'sample_idx'; add it to the meta_keys"):
        dump.process({}, [{'pred_label': torch.tensor([1])}])


def test_plain_values(tmp_path: Path) -> None:
    values = {'a': torch.tensor([1, 2]), 'b': (np.float64(0.5), None), 3: Path('x'), 'c': True}
    plain = {'a': [1, 2], 'b': [0.5, None], '3': 'x', 'c': True}
    assert to_plain(values) == plain
    write_results(str(tmp_path / 'r.json'), values)
    assert json.loads((tmp_path / 'r.json').read_text()) == plain
