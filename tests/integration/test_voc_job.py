"""The main command on a tree of VOC2007's layout, from nothing but the tree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mmshufflemix.checkpoint_schemes import use_safe_loading
from mmshufflemix.label_graph import load_label_graph
from tests.integration.recording import recorded_mixing
from tests.tiny_job import ROOT
from tests.tool_runner import run_processes, run_tool
from tests.voc_tree import SMALL_VOC_JOB, write_voc_tree

CONFIG = ROOT / 'configs' / 'voc07' / 'mlgcn_shufflemix.py'
# The second item of an object: difficult, or None where the tag is missing.
IMAGES: dict[str, list[tuple[str, bool | None]]] = {
    '000001': [('dog', False), ('person', True)],
    '000002': [('person', False), ('chair', None), ('diningtable', None), ('chair', None)],
    '000003': [('car', False), ('car', True), ('bus', False)],
    '000004': [('cat', True)],
    '000005': [('aeroplane', False)],
    '000006': [('horse', False), ('person', False), ('person', False)],
    '000007': [('bottle', None), ('person', False)],
}
TRAIN = list(IMAGES)[:6]
COUNTS = {'aeroplane': 1, 'bus': 1, 'car': 1, 'chair': 1, 'diningtable': 1, 'dog': 1, 'horse': 1}
SMALL = [
    *SMALL_VOC_JOB,
    'val_dataloader.batch_size=4',
    'test_dataloader.batch_size=4',
    'default_hooks.logger.interval=1',
    'default_hooks.checkpoint.max_keep_ckpts=-1',
    'train_cfg.max_epochs=2',
]


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with the tree where the config looks for it, and the finished run."""
    folder = tmp_path_factory.mktemp('voc')
    splits = {'trainval': TRAIN, 'test': list(IMAGES)}
    write_voc_tree(folder / 'data' / 'VOCdevkit' / 'VOC2007', IMAGES, splits)
    with pytest.MonkeyPatch.context() as patch, recorded_mixing() as plans:
        patch.chdir(folder)
        run_tool('train', CONFIG, '--cfg-options', *SMALL)
    assert len(plans) == 6
    return folder


@pytest.fixture
def work_dir(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the run, seen from the working folder."""
    monkeypatch.chdir(place)
    return Path('work_dirs') / 'mlgcn_shufflemix'


def scalars(work_dir: Path) -> list[dict[str, Any]]:
    """What the run logged last, one entry a validation."""
    lines = max(work_dir.glob('*/vis_data/scalars.json')).read_text().splitlines()
    return [entry for entry in map(json.loads, lines) if 'multi-label/mAP' in entry]


def weights(path: Path) -> dict[str, torch.Tensor]:
    return torch.load(path, weights_only=False)['state_dict']


def test_the_label_graph_was_built_from_the_tree(work_dir: Path) -> None:
    """By hand: difficult-only person in 000001 and cat in 000004 do not count."""
    graph = load_label_graph('work_dirs/label_graphs/voc07_trainval.npz')
    counts = dict(zip(graph.classes, graph.counts.tolist(), strict=True))
    assert {name: count for name, count in counts.items() if count} == {**COUNTS, 'person': 2}
    pairs = [('person', 'chair'), ('person', 'diningtable'), ('chair', 'diningtable')]
    pairs += [('car', 'bus'), ('horse', 'person')]
    expected = np.zeros((20, 20))
    for first, second in pairs:
        i, j = graph.classes.index(first), graph.classes.index(second)
        expected[i, j] = expected[j, i] = 1
    np.testing.assert_array_equal(graph.cooccurrence, expected)
    log = max(work_dir.glob('*/*.log')).read_text()
    assert 'voc07_trainval.npz did not exist and was built from the 6 images' in log
    embeddings = weights(work_dir / 'epoch_2.pth')['head.embeddings']
    assert torch.equal(embeddings, torch.from_numpy(graph.embeddings))


def test_two_epochs_with_validation_and_a_best_checkpoint(work_dir: Path) -> None:
    assert len(scalars(work_dir)) == 2
    assert scalars(work_dir)[0]['multi-label/absent_classes'] == 11
    assert len(list(work_dir.glob('best_multi-label_mAP_epoch_*.pth'))) == 1
    assert {path.name for path in work_dir.glob('epoch_*.pth')} == {'epoch_1.pth', 'epoch_2.pth'}


def test_testing_gives_the_numbers_of_the_last_validation(work_dir: Path, tmp_path: Path) -> None:
    checkpoint, metrics = work_dir / 'epoch_2.pth', tmp_path / 'metrics.json'
    common = ['--work-dir', tmp_path, '--cfg-options', *SMALL]
    run_tool('test', CONFIG, checkpoint, '--out', metrics, '--out-item', 'metrics', *common)
    tested, validated = json.loads(metrics.read_text()), scalars(work_dir)[-1]
    assert tested == {key: validated[key] for key in tested}
    run_tool('test', CONFIG, checkpoint, '--out', tmp_path / 'records.json', *common)
    records = json.loads((tmp_path / 'records.json').read_text())
    assert [Path(record['img_path']).stem for record in records] == list(IMAGES)
    assert [len(record['pred_score']) for record in records] == [20] * 7
    assert [len(record['gt_label']) for record in records] == [1, 3, 2, 0, 1, 2, 2]


def test_a_resumed_run_equals_the_one_without_a_stop(work_dir: Path, tmp_path: Path) -> None:
    """The weights of ImageNet, which cannot be downloaded here, are not needed to go on."""
    first = ['train_cfg.max_epochs=1']
    run_tool('train', CONFIG, '--work-dir', tmp_path, '--cfg-options', *SMALL, *first)
    pretrained = [
        'model.backbone.init_cfg.type=Pretrained',
        'model.backbone.init_cfg.checkpoint=http://127.0.0.1:9/resnet.pth',
    ]
    options = [option for option in SMALL if 'init_cfg' not in option] + pretrained
    run_tool('train', CONFIG, '--work-dir', tmp_path, '--resume', '--cfg-options', *options)
    expected, resumed = (weights(folder / 'epoch_2.pth') for folder in (work_dir, tmp_path))
    assert expected.keys() == resumed.keys()
    assert all(torch.equal(value, resumed[name]) for name, value in expected.items())


@pytest.mark.parametrize(
    ('options', 'error', 'message'),
    [
        (
            ['train_dataloader.dataset.data_root=/nowhere'],
            FileNotFoundError,
            'image list /nowhere/ImageSets/Main/trainval.txt does not exist; set data_root',
        ),
        (
            ['val_dataloader.dataset.split=testt'],
            FileNotFoundError,
            'testt.txt does not exist',
        ),
        (['model.head.num_classes=21'], ValueError, 'has 20 classes but the head has num_classes='),
        (['data_preprocessor.num_classes=21'], ValueError, 'set data_preprocessor.num_classes=20'),
        (['model.head.in_channels=128'], ValueError, r'pooled features \(N, 128\), got .*64'),
        (['train_dataloader.batch_size=16'], ValueError, 'its 6 images do not fill one of 16'),
        (['model.head.label_graph=other.npz'], ValueError, 'other.npz has 2 classes but the head'),
        (['model.head.label_graph=order.npz'], ValueError, "class 0 is 'tvmonitor' in .*order.npz"),
        (
            ['default_hooks.checkpoint.save_best=multi-label/AP_sheep'],
            ValueError,
            "save_best names 'multi-label/AP_sheep', which validation does not give; .*AP_dog",
        ),
        (
            [
                'model.backbone.init_cfg.type=Pretrained',
                'model.backbone.init_cfg.checkpoint=http://127.0.0.1:9/resnet.pth',
            ],
            ConnectionError,
            'resnet.pth.* could not be downloaded .*; download it by hand into .* or give the path',
        ),
    ],
)
def test_mistakes(
    work_dir: Path, tmp_path: Path, options: list[str], error: type[Exception], message: str
) -> None:
    use_safe_loading()
    if 'label_graph' in options[0]:
        write_other_graphs()
    small = [option for option in SMALL if option.split('=')[0] not in str(options)]
    small = [option for option in small if 'init_cfg' not in option or len(options) == 1]
    with pytest.raises(error, match=message):
        run_tool('train', CONFIG, '--work-dir', tmp_path, '--cfg-options', *small, *options)


def write_other_graphs() -> None:
    """A graph of another data set, and one of this set with its classes in another order."""
    content = dict(np.load('work_dirs/label_graphs/voc07_trainval.npz'))
    np.savez('order.npz', **{**content, 'classes': content['classes'][::-1]})
    few = {name: content[name][:2] for name in ('classes', 'counts', 'embeddings')}
    np.savez('other.npz', **few, cooccurrence=content['cooccurrence'][:2, :2])


def test_a_missing_picture_is_named(work_dir: Path, tmp_path: Path) -> None:
    tree = write_voc_tree(tmp_path / 'VOC2007', IMAGES, {'trainval': TRAIN, 'test': TRAIN})
    (tree / 'JPEGImages' / '000003.jpg').unlink()
    root = f'train_dataloader.dataset.data_root={tree}'
    with pytest.raises(FileNotFoundError, match=r'1 of 6 images are missing: .*000003\.jpg'):
        run_tool('train', CONFIG, '--work-dir', tmp_path, '--cfg-options', *SMALL, root)


def test_a_checkpoint_of_other_classes_is_refused(work_dir: Path, tmp_path: Path) -> None:
    checkpoint = torch.load(work_dir / 'epoch_2.pth', weights_only=False)
    checkpoint['meta']['dataset_meta']['classes'] = ('cat', 'dog')
    torch.save(checkpoint, tmp_path / 'other.pth')
    options = ['--work-dir', tmp_path, '--cfg-options', *SMALL]
    with pytest.raises(ValueError, match=r'trained on 2 classes \(cat, dog\) and the test set has'):
        run_tool('test', CONFIG, tmp_path / 'other.pth', *options)


RANKS = """
import os
import torch
from mmengine.hooks import Hook
from mmpretrain.registry import HOOKS

@HOOKS.register_module()
class KeepRanks(Hook):
    def after_train(self, runner):
        content = dict(runner.model.module.state_dict())
        content['unused'] = torch.tensor(runner.model.find_unused_parameters)
        torch.save(content, os.path.join(runner.work_dir, f'rank{os.environ["RANK"]}.pth'))
"""


@pytest.mark.slow
def test_two_processes(place: Path, tmp_path: Path) -> None:
    (tmp_path / 'keep_ranks.py').write_text(RANKS)
    config = tmp_path / 'two.py'
    config.write_text(
        f"import sys\nsys.path.insert(0, '{tmp_path}')\ndel sys\n_base_ = ['{CONFIG}']\n"
        "custom_imports = dict(imports=['mmshufflemix', 'keep_ranks'])\n"
        "custom_hooks = [*_base_.custom_hooks, dict(type='KeepRanks')]\n"
    )
    root = place / 'data' / 'VOCdevkit' / 'VOC2007'
    paths = [f'{name}_dataloader.dataset.data_root={root}' for name in ('train', 'val', 'test')]
    options = ['--cfg-options', *SMALL, *paths, f'model.head.label_graph={tmp_path}/graph.npz']
    done = run_processes('dist_train', config, 2, '--work-dir', tmp_path, *options)
    assert done.returncode == 0, done.stderr[-3000:]
    first, second = (torch.load(tmp_path / f'rank{rank}.pth') for rank in (0, 1))
    assert not first.pop('unused')
    assert not second.pop('unused')
    saved = weights(tmp_path / 'epoch_2.pth')
    running = ('running_mean', 'running_var')
    for name, value in first.items():
        assert torch.equal(value, saved[name]), name
        # Each process has its own batch statistics in training.
        assert torch.equal(value, second[name]) or name.endswith(running), name

    metrics = {1: tmp_path / 'one.json', 2: tmp_path / 'two.json'}
    checkpoint = tmp_path / 'epoch_2.pth'
    common = ['--work-dir', tmp_path, '--out-item', 'metrics', '--out']
    run_tool('test', CONFIG, checkpoint, *common, metrics[1], *options)
    done = run_processes('dist_test', CONFIG, checkpoint, 2, *common, metrics[2], *options)
    assert done.returncode == 0, done.stderr[-3000:]
    one, two = (json.loads(path.read_text()) for path in metrics.values())
    assert one == two
    assert one['multi-label/mAP'] == pytest.approx(scalars(tmp_path)[-1]['multi-label/mAP'])
