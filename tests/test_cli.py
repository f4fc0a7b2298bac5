"""Users' mistakes end in one sentence, bugs keep their traceback."""

from __future__ import annotations

import os
import urllib.error
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from mmengine.config import Config
from mmengine.optim import AmpOptimWrapper
from mmpretrain.registry import HOOKS, MODELS
from torch import distributed
from torch.utils.data import DataLoader, Dataset

from mmshufflemix.augments import ShuffleMix
from mmshufflemix.cli import error_sentence, new_parser, run_cli
from mmshufflemix.launch import set_loader_defaults, with_download_hint
from mmshufflemix.prepare import (
    check_amp,
    check_local_file,
    check_optimizer,
    download_hint,
    drop_pretrained,
    prepare_config,
    read_config,
)
from tests.tiny_job import load_job, write_job
from tests.tool_runner import fail_tool


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('mmshufflemix.cli.use_safe_loading', lambda: None)
    monkeypatch.setattr('sys.argv', ['tool'])
    monkeypatch.delenv('MMSHUFFLEMIX_TRACEBACK', raising=False)


def open_missing() -> None:
    Path('/nowhere/file.txt').read_text()


def build_unknown() -> None:
    MODELS.build(dict(type='NoSuchBackbone'))


def build_wrong_argument() -> None:
    MODELS.build(dict(type='ResNet_CIFAR', depth=18, dept=3))


def build_refused() -> None:
    MODELS.build(dict(type='ResNet_CIFAR', depth=17))


def own_error() -> None:
    ShuffleMix(alpha=-1.0)


def tool_error() -> None:
    raise ValueError('--a needs --b')


class Unreadable(Dataset):
    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> Any:
        raise FileNotFoundError(2, 'No such file or directory', 'image.jpg')


def fail_in_worker() -> None:
    next(iter(DataLoader(Unreadable(), num_workers=1)))


@pytest.mark.parametrize(
    ('main', 'sentence'),
    [
        (open_missing, "cannot open '/nowhere/file.txt': no such file or directory"),
        (build_unknown, 'NoSuchBackbone is not in the'),
        (build_wrong_argument, "__init__() got an unexpected keyword argument 'dept'"),
        (build_refused, 'invalid depth 17'),
        (own_error, 'alpha must'),
        (fail_in_worker, "No such file or directory: 'image.jpg'"),
    ],
)
def test_mistakes_end_in_one_sentence(
    main: Callable[[], None], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run_cli(main)
    assert stopped.value.code == 1
    error = capsys.readouterr().err
    last = error.strip().splitlines()[-1]
    assert last.startswith('error: ')
    assert sentence in last
    assert 'Traceback' not in error
    assert 'More details' not in last


def test_errors_of_the_tool_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tool_error.__globals__, '__name__', '__main__')
    with pytest.raises(SystemExit):
        run_cli(tool_error)


def bug() -> None:
    torch.ones(2) @ torch.ones(3)


@pytest.mark.parametrize('bug', [bug, lambda: {}['key'], lambda: 1 / 0])
def test_bugs_keep_their_traceback(bug: Callable[[], None]) -> None:
    with pytest.raises((RuntimeError, KeyError, ZeroDivisionError)):
        run_cli(bug)


def test_traceback_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('MMSHUFFLEMIX_TRACEBACK', '1')
    with pytest.raises(FileNotFoundError):
        run_cli(open_missing)
    monkeypatch.delenv('MMSHUFFLEMIX_TRACEBACK')
    monkeypatch.setattr('sys.argv', ['tool', '--traceback'])
    with pytest.raises(FileNotFoundError):
        run_cli(open_missing)
    assert new_parser('tool').parse_args(['--traceback']).traceback


@pytest.mark.skipif(not Path('/proc/self/task').exists(), reason='looks into /proc')
def test_threads_of_gloo_end_before_python_does(tmp_path: Path) -> None:
    """Also if something in a circle, such as a runner, holds the group."""
    before, started = set(os.listdir('/proc/self/task')), set()

    def join() -> None:
        store = f'file://{tmp_path / "store"}'
        distributed.init_process_group('gloo', init_method=store, rank=0, world_size=1)
        circle: list[Any] = [distributed.group.WORLD]
        circle.append(circle)
        started.update(set(os.listdir('/proc/self/task')) - before)

    try:
        run_cli(join)
        assert not distributed.is_initialized()
        assert started
        assert not started.intersection(os.listdir('/proc/self/task'))
    finally:
        if distributed.is_initialized():
            distributed.destroy_process_group()


def test_ctrl_c() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as stopped:
        run_cli(interrupted)
    assert stopped.value.code == 130


@pytest.mark.parametrize(
    ('error', 'sentence'),
    [
        (KeyError('model'), "the setting 'model' is missing"),
        (KeyError('x is not in y'), 'x is not in y'),
        (TypeError('class `A` in a/b.py: class `B` in b.py: bad\nvalue'), 'bad value'),
        (
            TypeError("class `A` in a.py: __init__() got an unexpected keyword argument 'x'"),
            "A.__init__() got an unexpected keyword argument 'x'",
        ),
        (NameError("name 'foo' is not defined"), "NameError: name 'foo' is not defined"),
        (AssertionError(), 'AssertionError'),
    ],
)
def test_error_sentence(error: Exception, sentence: str) -> None:
    assert error_sentence(error) == sentence


def test_a_schedule_that_starts_after_the_training_is_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / 'late.py'
    config.write_text(
        f"_base_ = ['{write_job(tmp_path)}']\n"
        "param_scheduler = [dict(type='CosineAnnealingLR', begin=20)]\n"
    )
    fail_tool('train', config, '--work-dir', tmp_path / 'run')
    assert capsys.readouterr().err.splitlines()[-1] == (
        'error: a schedule in param_scheduler does not fit the length of the training: end should '
        'be larger than begin, but got begin=20, end=2'
    )


def test_read_config(tmp_path: Path) -> None:
    config = tmp_path / 'c.py'
    with pytest.raises(FileNotFoundError, match=r"config '.*c\.py' does not exist"):
        read_config(str(config))
    config.write_text('model = dict(a=1)')
    assert read_config(str(config), {'model.a': 2}).model.a == 2
    for text, kind in (('model = dict(', 'SyntaxError'), ('model = nothing', 'NameError')):
        config.write_text(text)
        with pytest.raises(ValueError, match=rf"c\.py' cannot be read: {kind}"):
            read_config(str(config))


@pytest.fixture(scope='module')
def job(tmp_path_factory: pytest.TempPathFactory) -> Config:
    folder = tmp_path_factory.mktemp('job')
    return load_job(write_job(folder), folder / 'run')


def changed(job: Config, options: dict[str, Any]) -> Config:
    cfg = deepcopy(job)
    cfg.merge_from_dict(options)
    return cfg


def switch(augment: dict[str, Any]) -> dict[str, Any]:
    """A hook that brings an augment from the second epoch on."""
    recipe = dict(action_epoch=2, batch_augments=dict(augments=augment))
    return dict(type='SwitchRecipeHook', schedule=[recipe, dict(action_epoch=3)])


def test_a_whole_alpha_of_a_later_recipe(job: Config) -> None:
    later = switch(dict(type='Mixup', alpha=1))
    cfg = prepare_config(changed(job, {'custom_hooks': [dict(type='EMAHook'), later]}))
    assert HOOKS.build(cfg.custom_hooks[1]).schedule[2]['batch_augments'].augments[0].alpha == 1.0


def test_the_models_preprocessor_keeps_mean_and_std(job: Config) -> None:
    # MMEngine takes the model's own preprocessor as a whole and drops the other one.
    mixing = dict(augments=[dict(type='Mixup', alpha=1)])
    options = {'model.train_cfg': None, 'model.data_preprocessor': dict(batch_augments=mixing)}
    cfg = changed(job, options)
    prepared = prepare_config(cfg)
    inner = prepared.model.data_preprocessor
    assert (inner.mean, inner.std, inner.num_classes) == ([120] * 3, [60] * 3, 3)
    model = MODELS.build(prepared.model)
    assert model.data_preprocessor._enable_normalize
    assert model.data_preprocessor.batch_augments.augments[0].alpha == 1.0
    assert 'mean' not in cfg.model.data_preprocessor


def test_the_models_preprocessor_has_priority(job: Config) -> None:
    cfg = changed(job, {'model.data_preprocessor': dict(mean=[1, 2, 3])})
    inner = prepare_config(cfg).model.data_preprocessor
    assert (inner.mean, inner.std) == ([1, 2, 3], [60] * 3)
    other = changed(job, {'model.data_preprocessor': dict(type='A'), 'data_preprocessor.type': 'B'})
    assert 'mean' not in prepare_config(other).model.data_preprocessor


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (
            {'model.train_cfg': dict(augments=dict(type='Mixup', alpha=1, num_classes=10))},
            r"'Mixup' got num_classes=10.*data_preprocessor=dict\(num_classes=10\)",
        ),
        (
            # As for the configs that have a list of augments.
            {'model.train_cfg.augments.0.type': 'mmshufflemix.ShuffleMix'},
            r'sets augments\.0, but the config has one augment .* leave the \.0 out, as in model',
        ),
        (
            {
                'model.train_cfg': dict(augments=dict(type='Mixup')),
                'data_preprocessor.batch_augments': dict(augments=dict(type='CutMix')),
            },
            'set in both',
        ),
        (
            {'custom_hooks': [switch(dict(type='CutMix', alpha=1.0, num_classes=10))]},
            "'CutMix' got num_classes=10",
        ),
        (
            {'train_dataloader.dataset': dict(type='VOC', data_root='x', _delete_=True)},
            'train_dataloader has the multi-label data set VOC but the head LinearClsHead',
        ),
        (
            {
                'test_dataloader.dataset': dict(
                    type='ConcatDataset',
                    datasets=[dict(type='MultiLabelDataset', ann_file='x')],
                    _delete_=True,
                )
            },
            'test_dataloader has the multi-label data set MultiLabelDataset',
        ),
    ],
)
def test_wrong_configs(job: Config, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        prepare_config(changed(job, options))


def test_multi_label_data_with_a_multi_label_head(job: Config) -> None:
    options = {
        'train_dataloader.dataset': dict(type='VOC', data_root='x', _delete_=True),
        'model.head': dict(type='MultiLabelLinearClsHead', num_classes=20, in_channels=32),
    }
    assert prepare_config(changed(job, options)).train_dataloader.dataset.type == 'VOC'


def test_amp_optimizer_and_files(job: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, 'is_available', lambda: False)
    check_amp(job)
    with pytest.raises(ValueError, match='needs a GPU and none is visible'):
        check_amp(changed(job, {'optim_wrapper.type': 'AmpOptimWrapper'}))
    # Configs in pure Python hold the class.
    with pytest.raises(ValueError, match='needs a GPU and none is visible'):
        check_amp(changed(job, {'optim_wrapper.type': AmpOptimWrapper}))
    check_optimizer(job)
    for name, way_out in (('SGDD', r'did you mean SGD\?'), ('Zzz', "write for example 'SGD'")):
        with pytest.raises(ValueError, match=f"is '{name}', which is not an optimizer; {way_out}"):
            check_optimizer(changed(job, {'optim_wrapper.optimizer.type': name}))
    check_local_file(None, 'checkpoint')
    check_local_file('http://somewhere/x.pth', 'checkpoint')
    with pytest.raises(FileNotFoundError, match="checkpoint '/x.pth' does not exist"):
        check_local_file('/x.pth', 'checkpoint')


def test_pretrained_weights_are_dropped_wherever_they_are() -> None:
    weights = dict(type='Pretrained', checkpoint='torchvision://resnet18')
    kaiming = dict(type='Kaiming', layer='Conv2d')
    model = dict(
        backbone=dict(type='ResNet', init_cfg=weights, parts=[dict(init_cfg=weights), 'name']),
        neck=dict(init_cfg=kaiming),
        head=dict(init_cfg=[kaiming, kaiming]),
    )
    drop_pretrained(model)
    assert model['backbone'] == dict(
        type='ResNet', init_cfg=None, parts=[{'init_cfg': None}, 'name']
    )
    assert model['neck']['init_cfg'] == kaiming
    assert model['head']['init_cfg'] == [kaiming, kaiming]


def test_a_failed_download_names_what_to_fetch(job: Config) -> None:
    cifar = dict(type='CIFAR10', data_root='data/cifar10', _delete_=True)
    cfg = changed(job, {'train_dataloader.dataset': cifar, 'val_dataloader.dataset': cifar})
    assert download_hint(cfg).count('CIFAR10') == 1

    def no_network() -> None:
        raise urllib.error.URLError('no route to host')

    with pytest.raises(
        ConnectionError, match=r"no route to host.*CIFAR10 from http.*'data/cifar10'"
    ):
        with_download_hint(no_network, cfg)


def test_loader_defaults() -> None:
    cfg = Config(dict(a=dict(num_workers=2, pin_memory=True), b=dict(num_workers=0), c=None))
    for name in 'abcd':
        set_loader_defaults(cfg, name, pin_memory=name != 'a', persistent_workers=True)
    assert (cfg.a.pin_memory, cfg.a.persistent_workers) == (False, True)
    assert cfg.b.persistent_workers is False
    assert cfg.b.collate_fn.type == 'default_collate'
    set_loader_defaults(cfg, 'a', pin_memory=True, persistent_workers=False)
    assert cfg.a.persistent_workers is False
