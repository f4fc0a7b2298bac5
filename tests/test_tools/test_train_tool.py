"""tools/train.py and its launchers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from mmshufflemix.checkpoint import load_checkpoint_file
from mmshufflemix.checkpoint_schemes import use_safe_loading
from tests.test_checkpoint import Evil
from tests.tiny_job import ROOT, write_job, write_multi_label_job, write_plain_job
from tests.tool_runner import run_processes, run_tool


@pytest.fixture(scope='module')
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_job(tmp_path_factory.mktemp('job'))


def epoch(path: Path) -> int:
    return load_checkpoint_file(path)['meta']['epoch']


def test_train_then_resume(config: Path, tmp_path: Path) -> None:
    run = tmp_path / 'run'
    run_tool('train', config, '--work-dir', run, '--resume')
    assert {path.name for path in run.glob('*.pth')} == {'epoch_1.pth', 'epoch_2.pth'}
    assert (run / 'tiny.py').is_file()
    (run / 'last_checkpoint').write_text('')
    longer = ['--cfg-options', 'train_cfg.max_epochs=3']
    run_tool('train', config, '--work-dir', run, '--resume', *longer)
    assert epoch(run / 'epoch_3.pth') == 3
    other = tmp_path / 'other'
    run_tool('train', config, '--work-dir', other, '--resume', run / 'epoch_2.pth', *longer)
    one, two = (torch.load(d / 'epoch_3.pth', weights_only=True) for d in (run, other))
    for name, value in one['state_dict'].items():
        assert torch.equal(value, two['state_dict'][name]), name


def test_a_resume_repeats_no_draw_without_the_shipped_hooks(tmp_path: Path) -> None:
    config = write_plain_job(tmp_path)
    whole, resumed = tmp_path / 'whole', tmp_path / 'resumed'
    run_tool('train', config, '--work-dir', whole)
    assert "'mmpretrain.EpochSeedHook'" in (whole / 'tiny.py').read_text().replace('"', "'")
    resumed.mkdir()
    shutil.copy(whole / 'epoch_1.pth', resumed)
    run_tool('train', config, '--work-dir', resumed, '--resume')
    assert 'added, so that a resumed run equals' in max(whole.glob('*/*.log')).read_text()
    one, two = (torch.load(d / 'epoch_2.pth', weights_only=True) for d in (whole, resumed))
    assert one['meta']['seed'] == two['meta']['seed']
    for name, value in one['state_dict'].items():
        assert torch.equal(value, two['state_dict'][name]), name


def test_default_work_dir_and_no_validation(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_tool('train', config, '--no-validate', '--no-pin-memory', '--no-persistent-workers')
    run = tmp_path / 'work_dirs' / 'tiny'
    assert epoch(run / 'epoch_2.pth') == 2
    assert 'Epoch(val)' not in max(run.glob('*/*.log')).read_text()


def test_workers_can_be_switched_off_by_an_option(tmp_path: Path) -> None:
    """MMPretrain's default for them was set before the option was read."""
    config = write_job(tmp_path)
    text = config.read_text().replace('num_workers=0', 'num_workers=2')
    config.write_text(text.replace('    persistent_workers=False,\n', ''))
    options = [f'{name}_dataloader.num_workers=0' for name in ('train', 'val', 'test')]
    run_tool('train', config, '--work-dir', tmp_path / 'run', '--cfg-options', *options)
    assert epoch(tmp_path / 'run' / 'epoch_2.pth') == 2


def test_auto_scale_lr(config: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='--auto-scale-lr needs auto_scale_lr'):
        run_tool('train', config, '--work-dir', tmp_path, '--auto-scale-lr')
    scaled = tmp_path / 'scaled.py'
    scaled.write_text(f"_base_ = ['{config}']\nauto_scale_lr = dict(base_batch_size=16)\n")
    run_tool('train', scaled, '--work-dir', tmp_path, '--auto-scale-lr', '--no-validate')
    schedule = load_checkpoint_file(tmp_path / 'epoch_1.pth')['param_schedulers'][0]
    assert schedule['base_values'] == [0.05 * 4 / 16]


@pytest.mark.parametrize(
    ('arguments', 'error', 'message'),
    [
        (['--resume', 'nope.pth'], FileNotFoundError, "checkpoint 'nope.pth' does not exist"),
        (['--resume', ''], ValueError, '--resume got an empty name'),
        (['--work-dir', ''], ValueError, "a folder, got ''; give it by --work-dir"),
        (['--cfg-options', 'work_dir=2024'], ValueError, 'name of a folder, got 2024; give it by'),
        (['--amp'], ValueError, 'needs a GPU'),
        (['--cfg-options', 'load_from=nope.pth'], FileNotFoundError, "'nope.pth'"),
        (['--cfg-options', 'model.train_cfg.augments.layers=[x]'], ValueError, 'unknown layer'),
        (['--cfg-options', 'train_dataloader.dataset.data_root=/nowhere'], OSError, '/nowhere'),
    ],
)
def test_mistakes(
    config: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    error: type[Exception],
    message: str,
) -> None:
    monkeypatch.setattr(torch.cuda, 'is_available', lambda: False)
    with pytest.raises(error, match=message):
        run_tool('train', config, '--work-dir', tmp_path, *arguments)


@pytest.mark.parametrize('way', ['resume', 'load_from', 'pretrained'])
def test_code_in_a_checkpoint_does_not_run(config: Path, tmp_path: Path, way: str) -> None:
    evil, target = tmp_path / 'evil.pth', tmp_path / 'made_by_pickle'
    torch.save({'state_dict': {}, 'meta': Evil(target)}, evil)
    arguments: dict[str, list[Any]] = {
        'resume': ['--resume', evil],
        'load_from': ['--cfg-options', f'load_from={evil}'],
        'pretrained': [
            '--cfg-options',
            'model.backbone.init_cfg.type=Pretrained',
            f'model.backbone.init_cfg.checkpoint={evil}',
        ],
    }
    use_safe_loading()
    with pytest.raises(ValueError, match='asks for more than data'):
        run_tool('train', config, '--work-dir', tmp_path / 'run', *arguments[way])
    assert not target.exists()


def test_a_mistake_on_the_command_line() -> None:
    result = subprocess.run(
        [sys.executable, str(ROOT / 'tools' / 'train.py'), 'nope.py'],
        env={**os.environ, 'OMP_NUM_THREADS': '1'},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 1
    assert "error: config 'nope.py' does not exist or is not a file." in result.stderr
    assert 'Traceback' not in result.stderr


def test_launchers_say_how_they_are_used() -> None:
    for script in ('dist_train', 'dist_test', 'slurm_train', 'slurm_test'):
        result = run_processes(script)
        assert result.returncode == 1
        assert result.stderr.startswith('error: usage: bash ')
        for flag in ('-h', '--help'):
            result = run_processes(script, flag)
            assert result.returncode == 0
            assert result.stdout.startswith('usage: bash ')
            assert not result.stderr


@pytest.mark.parametrize(
    ('script', 'arguments', 'message'),
    [
        (
            'dist_train',
            ['CONFIG', 'two'],
            "PROCESSES must be a whole number of at least 1, got 'two'",
        ),
        ('dist_test', ['CONFIG', 'x.pth', '0'], 'PROCESSES must be a whole number'),
        ('dist_train', ['nope.py', '2'], "config 'nope.py' does not exist"),
        ('dist_test', ['nope.py', 'x.pth', '2'], "config 'nope.py' does not exist"),
        ('slurm_train', ['part', 'job', 'nope.py', 'out'], "config 'nope.py' does not exist"),
        ('slurm_test', ['part', 'job', 'nope.py', 'x.pth'], "config 'nope.py' does not exist"),
    ],
)
def test_launchers_check_what_they_are_given(
    config: Path, script: str, arguments: list[str], message: str
) -> None:
    result = run_processes(script, *(str(config) if a == 'CONFIG' else a for a in arguments))
    assert result.returncode == 1
    assert not result.stdout
    [line] = result.stderr.splitlines()
    assert line.startswith(f'error: {message}')


@pytest.mark.parametrize('script', ['slurm_train', 'slurm_test'])
@pytest.mark.parametrize(
    ('name', 'least'), [('GPUS', 1), ('GPUS_PER_NODE', 0), ('CPUS_PER_TASK', 1)]
)
def test_numbers_of_slurm(config: Path, script: str, name: str, least: int) -> None:
    result = subprocess.run(
        ['bash', str(ROOT / 'tools' / f'{script}.sh'), 'part', 'job', str(config), 'out'],
        env={'PATH': '/usr/bin:/bin', name: '-1'},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert result.stderr == (
        f"error: {name} must be a whole number of at least {least}, got '-1'.\n"
    )


@pytest.mark.parametrize('script', ['slurm_train', 'slurm_test'])
def test_a_machine_without_slurm(config: Path, tmp_path: Path, script: str) -> None:
    bash, dirname = shutil.which('bash'), shutil.which('dirname')
    assert bash
    assert dirname
    folder = tmp_path / 'bin'
    folder.mkdir()
    (folder / 'dirname').symlink_to(dirname)
    result = subprocess.run(
        [bash, str(ROOT / 'tools' / f'{script}.sh'), 'part', 'job', str(config), 'out'],
        env={'PATH': str(folder)},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert 'error: srun of Slurm is not on PATH; without Slurm use' in result.stderr


def test_slurm_command_line(tmp_path: Path) -> None:
    """A stand-in for srun prints what it was given."""
    srun = tmp_path / 'srun'
    srun.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    srun.chmod(0o755)
    config = tmp_path / 'my config.py'
    config.touch()
    for script, expected in (
        ('slurm_train', [str(config), '--work-dir=out', '--launcher=slurm', '--amp']),
        ('slurm_test', [str(config), 'out', '--launcher=slurm', '--amp']),
    ):
        arguments = ['part', 'job', str(config), 'out', '--amp']
        result = subprocess.run(
            ['bash', str(ROOT / 'tools' / f'{script}.sh'), *arguments],
            env={'PATH': f'{tmp_path}:/usr/bin:/bin', 'GPUS': '2', 'GPUS_PER_NODE': '0'},
            capture_output=True,
            text=True,
            check=True,
        )
        given = result.stdout.splitlines()
        assert given[-len(expected) :] == expected
        assert '--ntasks=2' in given
        assert not any('gres' in word for word in given)


@pytest.mark.slow
def test_without_network_two_processes_stop(config: Path, tmp_path: Path) -> None:
    """CIFAR-10 is missing and its server does not answer: no hang, and the way out is named."""
    module = tmp_path / 'no_server.py'
    module.write_text(
        "from mmpretrain.datasets import CIFAR10\nCIFAR10.url = 'http://127.0.0.1:9/c.tar.gz'\n"
    )
    cifar = tmp_path / 'cifar.py'
    cifar.write_text(
        f"_base_ = ['{config}']\n"
        f"import sys\nsys.path.insert(0, '{tmp_path}')\nimport no_server\ndel sys, no_server\n"
        'train_dataloader = dict(dataset=dict(\n'
        f"    _delete_=True, type='CIFAR10', data_root='{tmp_path}/cifar', split='train',\n"
        "    pipeline=[dict(type='PackInputs')]))\n"
    )
    result = run_processes('dist_train', cifar, 2, '--work-dir', tmp_path / 'run')
    assert result.returncode != 0
    assert f"fetch by hand: CIFAR10 from http://127.0.0.1:9/c.tar.gz into '{tmp_path}/cifar'" in (
        result.stderr
    )


def test_pos_weight_auto_is_taken_from_the_training_labels(tmp_path: Path) -> None:
    # Of 12 images every one has class a, every second b and every third c.
    several = write_multi_label_job(
        tmp_path, lambda index: [0] + [1] * (index % 2 == 0) + [2] * (index % 3 == 0)
    )
    config = tmp_path / 'weighted.py'
    config.write_text(
        f"_base_ = ['{tmp_path / 'tiny.py'}']\n"
        "model = dict(train_cfg=None, head=dict(_delete_=True, type='MultiLabelLinearClsHead',\n"
        '    num_classes=3, in_channels=32,\n'
        "    loss=dict(type='CrossEntropyLoss', use_sigmoid=True, pos_weight='auto')))\n"
        "train_dataloader = dict(dataset=dict(_delete_=True, type='MultiLabelDataset',\n"
        f"    ann_file='{several.parent / 'ann.json'}', pipeline=_base_.pipeline))\n"
    )
    run_tool('train', config, '--work-dir', tmp_path / 'run', '--no-validate')
    log = max((tmp_path / 'run').glob('*/*.log')).read_text()
    # Negatives over positives: 0 of 12 is limited to 1 / 100; 6 / 6; 8 / 4.
    rows = [line.split() for line in log.splitlines()]
    assert [['a', '12', '0.010'], ['b', '6', '1.000'], ['c', '4', '2.000']] == [
        row for row in rows if row and row[0] in 'abc'
    ]
