"""Checkpoints: safe loading, finding the newest, surviving a kill."""

from __future__ import annotations

import importlib
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from mmengine.hooks import CheckpointHook
from mmengine.logging import HistoryBuffer
from mmengine.optim.scheduler.param_scheduler import OneCycleParamScheduler
from mmengine.runner import Runner
from mmengine.runner.checkpoint import CheckpointLoader, _load_checkpoint

import mmshufflemix  # noqa: F401
from mmshufflemix import files
from mmshufflemix.checkpoint import (
    checkpoints_there,
    latest_checkpoint,
    load_checkpoint_file,
)
from mmshufflemix.checkpoint_schemes import use_safe_loading
from mmshufflemix.hooks.class_check_hook import compare_classes
from mmshufflemix.hooks.safe_checkpoint_hook import SafeCheckpointHook
from mmshufflemix.prepare import check_local_file
from tests.tiny_job import ROOT, load_job, write_job


class Evil:
    """Makes a folder when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.target),)


class EvilGetattr:
    """Asks for an attribute that leads further than MMEngine's history needs."""

    def __init__(self, *asked: Any) -> None:
        self.asked = asked

    def __reduce__(self) -> Any:
        return getattr, self.asked


class EvilSchedule:
    """Builds a schedule when it is unpickled."""

    def __reduce__(self) -> Any:
        return OneCycleParamScheduler, (None, 'lr')


@pytest.fixture
def _mmengine_schemes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CheckpointLoader, '_schemes', dict(CheckpointLoader._schemes))


def history_checkpoint() -> dict[str, Any]:
    buffer = HistoryBuffer()
    for value in (3.0, 1.0, 2.0):
        buffer.update(value)
    return {
        'meta': {'epoch': 1, 'classes': np.array(['a', 'b'])},
        'state_dict': {'w': torch.ones(2)},
        'message_hub': {'loss': buffer, 'best': np.float64(0.5), 'count': np.int64(3)},
    }


def test_history_and_numbers_are_read(tmp_path: Path) -> None:
    path = tmp_path / 'epoch_1.pth'
    torch.save(history_checkpoint(), path)
    loaded = load_checkpoint_file(path)
    hub = loaded['message_hub']
    assert hub['loss'].min() == 1.0
    assert hub['loss'].statistics('mean', 2) == 1.5
    assert (hub['best'], hub['count']) == (0.5, 3)
    assert loaded['meta']['classes'].tolist() == ['a', 'b']


def test_importing_the_package_lets_torch_itself_read_them(tmp_path: Path) -> None:
    path = tmp_path / 'epoch_1.pth'
    torch.save(history_checkpoint(), path)
    # MMEngine's fork allows some of the same names for a moment and then takes them back.
    _load_checkpoint(str(path))
    loaded = torch.load(path, weights_only=True)
    assert loaded['message_hub']['loss'].current() == 2.0


@pytest.mark.usefixtures('_mmengine_schemes')
@pytest.mark.parametrize('loader', ['own', 'mmengine'])
def test_code_in_a_checkpoint_does_not_run(tmp_path: Path, loader: str) -> None:
    path, target = tmp_path / 'evil.pth', tmp_path / 'made_by_pickle'
    torch.save({'state_dict': {}, 'meta': Evil(target)}, path)
    use_safe_loading()
    load = load_checkpoint_file if loader == 'own' else _load_checkpoint
    with pytest.raises(ValueError, match=r'evil\.pth.* asks for more than data \(\w+\.mkdir\)'):
        load(str(path))
    assert not target.exists()


def test_old_style_pickles_are_refused_too(tmp_path: Path) -> None:
    path, target = tmp_path / 'evil.pth', tmp_path / 'made_by_pickle'
    path.write_bytes(pickle.dumps(Evil(target), protocol=2))
    with pytest.raises(ValueError, match=r'evil\.pth'):
        load_checkpoint_file(path)
    assert not target.exists()


@pytest.mark.parametrize('owner', [HistoryBuffer, OneCycleParamScheduler])
def test_getattr_reaches_only_what_mmengine_needs(tmp_path: Path, owner: type) -> None:
    path = tmp_path / 'evil.pth'
    torch.save({'meta': EvilGetattr(owner, '__init__')}, path)
    with pytest.raises(ValueError, match='asks for more than data'):
        load_checkpoint_file(path)


def test_the_curves_of_one_cycle_are_read_and_no_schedule_is_built(tmp_path: Path) -> None:
    path = tmp_path / 'epoch_1.pth'
    curves = [OneCycleParamScheduler._annealing_cos, OneCycleParamScheduler._annealing_linear]
    torch.save({'param_schedulers': curves}, path)
    assert load_checkpoint_file(path)['param_schedulers'] == curves
    torch.save({'param_schedulers': EvilSchedule()}, path)
    with pytest.raises(ValueError, match=r'epoch_1\.pth'):
        load_checkpoint_file(path)


def test_arrays_of_objects_are_refused(tmp_path: Path) -> None:
    path = tmp_path / 'objects.pth'
    torch.save({'meta': np.array([{}, []], dtype=object)}, path)
    with pytest.raises(ValueError, match=r'objects\.pth'):
        load_checkpoint_file(path)


@pytest.mark.parametrize('content', [b'', b'hello', b'PK\x03\x04 half a zip'])
def test_damaged_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / 'torn.pth'
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"'.*torn\.pth' is damaged"):
        load_checkpoint_file(path)
    with pytest.raises(FileNotFoundError, match=r"'.*none\.pth' does not exist"):
        load_checkpoint_file(tmp_path / 'none.pth')


def test_a_missing_file_names_those_that_are_there(tmp_path: Path) -> None:
    missing = tmp_path / 'epoch_20.pth'
    assert checkpoints_there(missing) == checkpoints_there(tmp_path / 'no' / 'x.pth') == ''
    for age, name in enumerate(('epoch_9.pth', 'epoch_10.pth', 'best_mAP_epoch_1.pth', 'log.txt')):
        (tmp_path / name).write_bytes(b'')
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    (tmp_path / 'folder.pth').mkdir()
    there = re.escape(f"'{tmp_path}' has epoch_9.pth, epoch_10.pth, best_mAP_epoch_1.pth)")
    for check in (load_checkpoint_file, lambda path: check_local_file(str(path), 'checkpoint')):
        with pytest.raises(FileNotFoundError, match=rf'epoch_20\.pth.* does not exist.*\({there}'):
            check(missing)
    # A folder in place of a file in it.
    with pytest.raises(FileNotFoundError, match=there):
        check_local_file(str(tmp_path), 'checkpoint')
    with pytest.raises(FileNotFoundError) as error:
        check_local_file(str(tmp_path / 'x.py'), 'config')
    assert 'epoch' not in str(error.value)


@pytest.mark.usefixtures('_mmengine_schemes')
def test_unreachable_and_unknown_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('TORCH_HOME', str(tmp_path))
    use_safe_loading()
    with pytest.raises(ConnectionError, match=r"'http://127\.0\.0\.1:9/w\.pth' could not be down"):
        _load_checkpoint('http://127.0.0.1:9/w.pth')
    with pytest.raises(ValueError, match='names no known weights'):
        _load_checkpoint('torchvision://nothing')
    with pytest.raises(ValueError, match='store that is not supported'):
        _load_checkpoint('s3://bucket/w.pth')


@pytest.mark.usefixtures('_mmengine_schemes')
def test_downloaded_weights_come_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('TORCH_HOME', str(tmp_path))
    cached = tmp_path / 'hub' / 'checkpoints' / 'w.pth'
    cached.parent.mkdir(parents=True)
    torch.save({'state_dict': {'w': torch.ones(1)}}, cached)
    use_safe_loading()
    assert _load_checkpoint('http://127.0.0.1:9/w.pth')['state_dict']['w'] == 1


def save(path: Path) -> Path:
    torch.save({'state_dict': {}}, path)
    return path


def test_latest_checkpoint(tmp_path: Path) -> None:
    marker = tmp_path / 'last_checkpoint'
    assert latest_checkpoint(tmp_path) is None
    ninth, tenth = save(tmp_path / 'epoch_9.pth'), save(tmp_path / 'epoch_10.pth')
    save(tmp_path / 'best_top1_epoch_99.pth')
    save(tmp_path / 'epoch_10-12345678.pth')
    (tmp_path / 'epoch_11.pth').write_bytes(tenth.read_bytes()[:-30])
    assert latest_checkpoint(tmp_path) == tenth
    marker.write_text(str(ninth))
    assert latest_checkpoint(tmp_path) == ninth
    marker.write_text('/moved/elsewhere/epoch_9.pth')
    assert latest_checkpoint(tmp_path) == ninth
    for torn in ('', str(ninth)[:-5], str(tmp_path / 'epoch_11.pth')):
        marker.write_text(torn)
        assert latest_checkpoint(tmp_path) == tenth


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / 'file.bin'
    files.write_bytes(path, b'old')

    def full(_: int) -> None:
        raise OSError('no space left')

    monkeypatch.setattr(files.os, 'fsync', full)
    with pytest.raises(OSError, match='no space'):
        files.write_bytes(path, b'new')
    assert path.read_bytes() == b'old'
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_names_the_target(tmp_path: Path) -> None:
    (tmp_path / 'folder').mkdir()
    with pytest.raises(IsADirectoryError) as raised:
        files.write_bytes(tmp_path / 'folder', b'new')
    assert raised.value.filename == str(tmp_path / 'folder')
    assert list(tmp_path.iterdir()) == [tmp_path / 'folder']


def test_targets_are_checked_without_a_trace(tmp_path: Path) -> None:
    (tmp_path / 'file').write_text('old')
    for name in ('file', 'new', 'a/b/new'):
        files.check_writable(tmp_path / name)
    mistakes = {tmp_path: 'which is a folder', tmp_path / 'file' / 'x': "file' is a file"}
    for path, message in mistakes.items():
        with pytest.raises(ValueError, match=message):
            files.check_writable(path)
    assert [path.read_text() for path in tmp_path.iterdir()] == ['old']


@pytest.mark.skipif(not Path('/proc/self').exists(), reason='needs a folder nobody can write in')
def test_a_folder_that_takes_no_file() -> None:
    with pytest.raises(
        ValueError, match=r"cannot write to '/proc/x\.json', since '/proc' takes no"
    ):
        files.check_writable('/proc/x.json')


def test_compare_classes() -> None:
    assert compare_classes(['a', 'b'], ('a', 'b')) == ''
    assert 'class 1 is' in compare_classes(['a', 'b'], ['a', 'c'])
    with pytest.raises(ValueError, match=r'3 classes \(a, b, c\) and the test set has 2 \(a, b\)'):
        compare_classes(['a', 'b', 'c'], ['a', 'b'])
    with pytest.raises(ValueError, match='another order'):
        compare_classes(['a', 'b'], ['b', 'a'])


def test_other_storages_are_refused() -> None:
    with pytest.raises(ValueError, match='writes to local disks and got backend_args'):
        SafeCheckpointHook(backend_args={'backend': 'petrel'})


class Killed(BaseException):
    """Stands for the process ending in the middle of something."""


STEPS = [f'{name}{when}' for name in ('write', 'marker', 'remove') for when in ('<', '>')]


@pytest.mark.parametrize('step', STEPS)
def test_a_kill_between_any_two_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Stop before or after each step of the third saving, with one checkpoint and best kept."""
    cfg = load_job(
        write_job(tmp_path),
        tmp_path / 'run',
        train_cfg__max_epochs=4,
        default_hooks__checkpoint__max_keep_ckpts=1,
        default_hooks__checkpoint__save_best='accuracy/top1',
        default_hooks__checkpoint__rule='greater',
    )
    cfg.experiment_name = f'kill_{STEPS.index(step)}'
    runner = Runner.from_cfg(cfg)
    module = importlib.import_module('mmshufflemix.hooks.safe_checkpoint_hook')
    owner, attribute, name = {
        'write': (module, 'write_bytes', 'epoch_3.pth'),
        'marker': (module, 'write_text', 'last_checkpoint'),
        'remove': (Path, 'unlink', 'epoch_2.pth'),
    }[step[:-1]]
    original = getattr(owner, attribute)

    def interrupted(path: Path, *args: Any, **kwargs: Any) -> None:
        hit = Path(path).name == name and runner.epoch == 2
        if hit and step.endswith('<'):
            raise Killed
        original(path, *args, **kwargs)
        if hit:
            raise Killed

    monkeypatch.setattr(owner, attribute, interrupted)
    with pytest.raises(Killed):
        runner.train()
    monkeypatch.undo()

    newest = latest_checkpoint(tmp_path / 'run')
    assert newest is not None
    assert load_checkpoint_file(newest)['meta']['epoch'] >= 2
    best = list((tmp_path / 'run').glob('best_*.pth'))
    assert best
    for path in best:
        load_checkpoint_file(path)

    again = cfg.copy()
    again.experiment_name += '_again'
    again.resume, again.load_from = True, str(newest)
    (tmp_path / 'run' / f'epoch_9.pth{files.TEMPORARY_MARK}1').write_bytes(b'torn')
    Runner.from_cfg(again).train()
    left = {path.name for path in (tmp_path / 'run').iterdir() if path.is_file()}
    assert {'epoch_4.pth', 'last_checkpoint'} <= left
    assert not any(files.TEMPORARY_MARK in name for name in left)


def test_mmengine_would_lose_everything_there(tmp_path: Path) -> None:
    """The reason for the hook: the base class removes the only checkpoint before saving."""
    cfg = load_job(write_job(tmp_path), tmp_path / 'run')
    cfg.default_hooks.checkpoint = dict(type='CheckpointHook', interval=1, max_keep_ckpts=1)
    cfg.experiment_name = 'base_hook'
    runner = Runner.from_cfg(cfg)
    hook = next(hook for hook in runner.hooks if type(hook) is CheckpointHook)
    present = []
    save_checkpoint = runner.save_checkpoint
    runner.save_checkpoint = lambda *args, **kwargs: (
        present.append(sorted(path.name for path in Path(hook.out_dir).glob('epoch_*.pth'))),
        save_checkpoint(*args, **kwargs),
    )
    runner.train()
    assert present == [[], []]


@pytest.mark.slow
def test_kill_9_and_resume(tmp_path: Path) -> None:
    config, work_dir = write_job(tmp_path), tmp_path / 'run'
    command = [sys.executable, str(ROOT / 'tools' / 'train.py'), str(config)]
    command += ['--work-dir', str(work_dir), '--resume', '--cfg-options']
    command += ['default_hooks.checkpoint.max_keep_ckpts=1', 'train_cfg.max_epochs=100000']
    reached = 0
    for extra in (0.3, 0.55):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 120
            while time.monotonic() < deadline and process.poll() is None:
                newest = latest_checkpoint(work_dir) if work_dir.is_dir() else None
                if newest and int(newest.stem.split('_')[1]) > reached + 1:
                    break
                time.sleep(0.05)
            time.sleep(extra)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        newest = latest_checkpoint(work_dir)
        assert newest is not None
        epoch = load_checkpoint_file(newest)['meta']['epoch']
        assert epoch > reached
        reached = epoch
