"""Resumed runs that differ from the run that wrote the checkpoint, through tools/train.py."""

from __future__ import annotations

import functools
import re
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from mmshufflemix.checkpoint import load_checkpoint_file
from tests.tiny_job import write_job
from tests.tool_runner import run_processes, run_tool

Resume = Callable[..., list[str]]

# MMEngine warns of its own old names in every run, and of accumulation.
_LIBRARY = re.compile('will be deprecated|Gradient accumul|influenced')
COSINE = "param_scheduler = [dict(type='CosineAnnealingLR')]\n"
BY_ITER = "param_scheduler = [dict(type='CosineAnnealingLR', convert_to_iter_based=True)]\n"
ADAM = "optimizer=dict(_delete_=True, type='AdamW', lr=0.001, betas=(0.9, 0.95))"
BOTH = (
    "param_scheduler = [dict(type='CosineAnnealingLR'), "
    "dict(type='CosineAnnealingMomentum', T_max=2, eta_min=0.8)]\n"
)
PARAMWISE = (
    'optim_wrapper = dict(optimizer=dict(weight_decay=0.1), '
    'paramwise_cfg=dict(norm_decay_mult=0))\n'
)
MULTIPLIED = (
    "optim_wrapper = dict(paramwise_cfg=dict(custom_keys={'backbone': dict(lr_mult=0.1)}))\n"
)
NO_STATE = 'default_hooks = dict(checkpoint=dict(save_optimizer=False))\n'
SCALED = 'auto_scale_lr = dict(base_batch_size=16, enable=True)\n'


@pytest.fixture(scope='module')
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_job(tmp_path_factory.mktemp('job'))


@pytest.fixture(scope='module')
def first_run(config: Path) -> Callable[[str], Path]:
    """Train 2 epochs by a text that changes the config; once for each text."""

    @functools.cache
    def train(text: str) -> Path:
        settings, run = (config.parent / f'{uuid.uuid4().hex}{end}' for end in ('.py', ''))
        settings.write_text(f"_base_ = ['{config}']\n{text}")
        run_tool('train', settings, '--work-dir', run, '--no-validate')
        return run

    return train


@pytest.fixture
def resume(
    config: Path,
    first_run: Callable[[str], Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> Resume:
    """Resume a first run by another text from one of its epochs; return the warnings."""

    def run(first: str, second: str, epoch: int = 1) -> list[str]:
        folder, settings = tmp_path / 'run', tmp_path / 'settings.py'
        folder.mkdir(exist_ok=True)
        shutil.copy(first_run(first) / f'epoch_{epoch}.pth', folder)
        settings.write_text(f"_base_ = ['{config}']\n{second}")
        capsys.readouterr()
        run_tool('train', settings, '--work-dir', folder, '--no-validate', '--resume')
        lines = [line for line in capsys.readouterr().out.splitlines() if ' WARNING - ' in line]
        return [line.split(' WARNING - ')[1] for line in lines if not _LIBRARY.search(line)]

    return run


@pytest.mark.parametrize(
    'text',
    [
        '',
        COSINE,
        BY_ITER,
        'optim_wrapper = dict(accumulative_counts=3)\n',
        f'optim_wrapper = dict({ADAM})\n',
        f'optim_wrapper = dict({ADAM})\n' + BOTH,
        PARAMWISE,
        "custom_hooks = [dict(type='EMAHook')]\n",
        f'optim_wrapper = dict({ADAM.replace("lr", "amsgrad=True, lr")})\n',
    ],
)
def test_an_unchanged_run_is_quiet(resume: Resume, text: str) -> None:
    assert resume(text, text) == []


@pytest.mark.slow
def test_an_unchanged_run_of_two_processes_is_quiet(config: Path, tmp_path: Path) -> None:
    settings = tmp_path / 'settings.py'
    settings.write_text(
        f"_base_ = ['{config}']\n{COSINE}custom_hooks = [dict(type='EMAHook')]\n"
        f'optim_wrapper = dict({ADAM})\ntrain_dataloader = dict(batch_size=2)\n'
    )
    for resume in ([], ['--resume']):
        done = run_processes(
            'dist_train', settings, 2, '--work-dir', tmp_path, '--no-validate', *resume
        )
        assert done.returncode == 0, done.stderr[-3000:]
        (tmp_path / 'epoch_2.pth').unlink()
        (tmp_path / 'last_checkpoint').unlink()
    assert 'resumed epoch: 1' in done.stdout
    lines = [line for line in done.stdout.splitlines() if ' WARNING - ' in line]
    assert [line for line in lines if not _LIBRARY.search(line)] == []


def test_auto_scale_lr_is_no_change_of_the_rate(resume: Resume, tmp_path: Path) -> None:
    assert resume(SCALED, SCALED) == []
    state = load_checkpoint_file(tmp_path / 'run' / 'epoch_2.pth')
    assert state['optimizer']['param_groups'][0]['initial_lr'] == 0.05 * 4 / 16


def test_a_longer_run_of_milestones_follows_the_config(resume: Resume) -> None:
    assert resume('', 'train_cfg = dict(max_epochs=4)\n') == []


LINEAR = "param_scheduler = [dict(type='LinearLR', end=2, start_factor=0.5)]\n"
SHORT = "param_scheduler = [dict(type='CosineAnnealingLR', T_max=2)]\n"
LONGER = 'train_cfg = dict(max_epochs=3)\n'


@pytest.mark.slow
@pytest.mark.parametrize(
    ('first', 'second', 'expected'),
    [
        (
            '',
            'optim_wrapper = dict(optimizer=dict(lr=0.1, weight_decay=0.3))\n',
            ['would have lr 0.1 (checkpoint 0.05), weight_decay 0.3 (checkpoint 0.0) by the conf'],
        ),
        (
            MULTIPLIED,
            MULTIPLIED + 'optim_wrapper["optimizer"] = dict(lr=0.1)\n',
            ['would have lr 0.1 (checkpoint 0.05) by the config'],
        ),
        (
            f'optim_wrapper = dict({ADAM})\n',
            f'optim_wrapper = dict({ADAM.replace("AdamW", "Adam")})\n',
            [
                'the optimizer is Adam by the config and was AdamW when the checkpoint was writ',
                'would have weight_decay 0.0 (checkpoint 0.01) by the config',
            ],
        ),
        (NO_STATE, NO_STATE, ['the checkpoint has no state of the optimizer (save_optimizer=Fal']),
        (
            '',
            'train_dataloader = dict(batch_size=2)\n',
            ['a step takes 2 (2 x 1 x 1) images and took 4 (4 x 1 x 1)'],
        ),
        (
            '',
            'optim_wrapper = dict(accumulative_counts=3)\n',
            ['a step takes 12 (4 x 1 x 3) images and took 4 (4 x 1 x 1)'],
        ),
        (
            BY_ITER,
            BY_ITER + 'train_dataloader = dict(batch_size=6)\n',
            ['CosineAnnealingLR in param_scheduler, which counts iterations, goes on from a count'],
        ),
        (
            # As many images a step, but other iterations.
            BY_ITER,
            BY_ITER + 'train_dataloader = dict(batch_size=2)\n'
            'optim_wrapper = dict(accumulative_counts=2)\n',
            ['an epoch has 6 iterations and had 3, since a step takes 4 (2 x 1 x 2) and not 4 (4'],
        ),
        (COSINE, COSINE + LONGER, ['CosineAnnealingLR in param_scheduler takes 3 epochs and took']),
        (
            LINEAR,
            LINEAR + LONGER,
            ['goes to epoch 3, but its last learning rate schedule, LinearLR, ends at epoch 2'],
        ),
        (
            SHORT,
            SHORT + LONGER,
            ['CosineAnnealingLR in param_scheduler is at its lowest at epoch 2 and rises again'],
        ),
        (
            '',
            'param_scheduler = dict(milestones=[1])\n',
            ['MultiStepLR in param_scheduler has milestones [1] (checkpoint [1, 3])'],
        ),
        (
            "custom_hooks = [dict(type='EMAHook')]\n",
            '',
            ['the run that wrote the checkpoint had EMAHook, which the config lacks: training'],
        ),
        ('', COSINE, ['param_scheduler has CosineAnnealingLR where the checkpoint has another']),
        ('', LINEAR.rstrip() + ' * 2\n', ['the config has 2 schedules in param_scheduler and the']),
        (
            # The scaled rate is not the one that training goes on with.
            SCALED,
            SCALED + 'train_dataloader = dict(batch_size=8)\n',
            ['would have lr 0.025 (checkpoint 0.0125)', 'a step takes 8 (8 x 1 x 1) images'],
        ),
    ],
)
def test_what_differs_is_said(resume: Resume, first: str, second: str, expected: list[str]) -> None:
    warnings = resume(first, second)
    assert len(warnings) == len(expected)
    for warning, part in zip(warnings, expected, strict=True):
        assert part in warning
        assert warning.endswith('.')


def test_a_finished_run(resume: Resume) -> None:
    [warning] = resume('', '', 2)
    assert warning.startswith('the training is finished: the checkpoint is of epoch 2 of 2; ')
    option = warning.rstrip('.').split('--cfg-options ')[1]
    assert option == 'train_cfg.max_epochs=3'


def test_a_finished_run_by_iterations(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / 'settings.py'
    settings.write_text(
        f"_base_ = ['{config}']\nparam_scheduler = None\n"
        "train_cfg = dict(_delete_=True, type='IterBasedTrainLoop', max_iters=3)\n"
        'default_hooks = dict(checkpoint=dict(by_epoch=False))\n'
    )
    for more in ([], ['--resume']):
        capsys.readouterr()
        run_tool('train', settings, '--work-dir', tmp_path, '--no-validate', *more)
    assert 'finished: the checkpoint is of iteration 3 of 3; ' in capsys.readouterr().out


@pytest.mark.parametrize(
    ('second', 'message'),
    [
        (f'optim_wrapper = dict({ADAM})\n', "is of another optimizer, whose state has no 'betas'"),
        (
            PARAMWISE,
            'weights in 1 group and that of the config has',
        ),
    ],
)
def test_another_optimizer_is_refused(resume: Resume, second: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        resume('', second)


def test_an_optimizer_with_the_settings_of_another_is_refused(resume: Resume) -> None:
    first, second = (
        f"optim_wrapper = dict(optimizer=dict(_delete_=True, type='{kind}', lr=0.001))\n"
        for kind in ('Adam', 'Adamax')
    )
    with pytest.raises(ValueError, match="has no 'exp_inf' of the weights, so that training can"):
        resume(first, second)


CYCLE = (
    "param_scheduler = dict(_delete_=True, type='OneCycleLR', eta_max=0.1, total_steps=2, "
    'convert_to_iter_based=True)\n'
)
TOO_SHORT = 'OneCycleLR in param_scheduler has total_steps for 6 iterations and this training has 9'


def test_a_cycle_shorter_than_a_resumed_run_is_refused(resume: Resume) -> None:
    assert resume(CYCLE, CYCLE) == []
    with pytest.raises(ValueError, match=TOO_SHORT):
        resume(CYCLE, CYCLE + LONGER)


def test_a_cycle_shorter_than_a_new_run_is_refused(config: Path, tmp_path: Path) -> None:
    settings = tmp_path / 'settings.py'
    settings.write_text(f"_base_ = ['{config}']\n{CYCLE}{LONGER}")
    with pytest.raises(ValueError, match=TOO_SHORT):
        run_tool('train', settings, '--work-dir', tmp_path / 'run', '--no-validate')
    assert list(tmp_path.glob('run/*.pth')) == []


def test_another_model_is_told_from_its_weights(resume: Resume) -> None:
    with pytest.raises(ValueError, match='the checkpoint lacks .* weights of this model'):
        resume('', 'model = dict(backbone=dict(depth=34))\n')
