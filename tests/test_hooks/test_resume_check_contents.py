"""What checkpoints hold, or lack, for the comparison with a resumed run."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from mmengine.optim import OptimWrapper, OptimWrapperDict
from torch import nn
from torch.optim import SGD, Adam, AdamW, Optimizer

from mmshufflemix.checkpoint import load_checkpoint_file
from mmshufflemix.hooks.resume_check_hook import ResumeCheckHook, check_state, optimizer_warnings
from tests.tiny_job import write_job
from tests.tool_runner import run_tool


@pytest.fixture(scope='module')
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_job(tmp_path_factory.mktemp('job'))


def test_of_several_optimizers_each_is_compared_with_its_own() -> None:
    def pair(kind: type[Optimizer]) -> OptimWrapperDict:
        parts = {
            name: OptimWrapper(k(nn.Linear(1, 1).parameters(), 0.1))
            for name, k in (('a', SGD), ('b', kind))
        }
        return OptimWrapperDict(**parts)

    old, new = pair(Adam), pair(AdamW)
    checkpoint: dict[str, Any] = {'meta': {}}
    runner = SimpleNamespace(optim_wrapper=old, train_dataloader=SimpleNamespace(batch_size=1))
    ResumeCheckHook().before_save_checkpoint(runner, checkpoint)  # type: ignore[arg-type]
    kinds = checkpoint['meta']['optimizer_type']
    assert kinds == {'a': 'SGD', 'b': 'Adam'}
    assert list(optimizer_warnings(old, old.state_dict(), kinds)) == []
    [kind, decay] = optimizer_warnings(new, old.state_dict(), kinds)
    assert 'the optimizer is AdamW by the config and was Adam when' in kind
    assert 'weight_decay 0.01 (checkpoint 0.0)' in decay
    assert len(list(optimizer_warnings(new, None, None))) == 1
    # Any file may say anything.
    assert list(optimizer_warnings(old, old.state_dict(), 'SGD')) == []


def test_mixed_precision_may_be_new_or_gone() -> None:
    """Its loss scale is a part of the state that the optimizer does not look at."""
    wrapper = OptimWrapper(SGD(nn.Linear(1, 1).parameters(), 0.1))
    state = {**wrapper.state_dict(), 'loss_scaler': {'scale': 65536.0}}
    assert list(optimizer_warnings(wrapper, state, 'SGD')) == []
    wrapper.load_state_dict(state)


@pytest.mark.parametrize('missing', ['meta', 'iter', 'message_hub'])
def test_a_checkpoint_without_a_training(missing: str) -> None:
    meta: dict[str, Any] = {'epoch': 1, 'iter': 3}
    checkpoint = {'state_dict': {}, 'meta': meta, 'message_hub': {}}
    check_state(checkpoint)
    (meta if missing == 'iter' else checkpoint).pop(missing)
    with pytest.raises(ValueError, match='has weights but not the state of a training'):
        check_state(checkpoint)


def test_weights_alone_resume_nothing(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_tool('train', config, '--work-dir', tmp_path / 'a', '--no-validate')
    capsys.readouterr()
    options = [f'load_from={tmp_path / "a" / "epoch_2.pth"}', 'optim_wrapper.optimizer.lr=0.3']
    options += ['train_dataloader.batch_size=2']
    arguments = ['--work-dir', tmp_path / 'b', '--no-validate', '--cfg-options', *options]
    run_tool('train', config, *arguments)
    assert 'checkpoint 0.05' not in capsys.readouterr().out
    assert (tmp_path / 'b' / 'epoch_2.pth').is_file()


def test_checkpoints_of_other_programs(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the note of this hook, the iterations of an epoch tell; resume=True is enough."""
    run_tool('train', config, '--work-dir', tmp_path, '--no-validate')
    checkpoint = load_checkpoint_file(tmp_path / 'epoch_1.pth')
    assert checkpoint['meta'].pop('batch') == {'size': 4, 'processes': 1, 'accumulation': 1}
    assert checkpoint['meta'].pop('optimizer_type') == 'SGD'
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    torch.save(checkpoint, tmp_path / 'epoch_1.pth')
    (tmp_path / 'last_checkpoint').write_text(str(tmp_path / 'epoch_1.pth'))
    capsys.readouterr()
    options = ['--cfg-options', 'resume=True', 'train_dataloader.batch_size=2']
    run_tool('train', config, '--work-dir', tmp_path, '--no-validate', *options)
    output = capsys.readouterr().out
    assert 'an epoch has 6 iterations and had 3 when the checkpoint was written' in output
    assert load_checkpoint_file(tmp_path / 'epoch_2.pth')['meta']['batch']['size'] == 2


@pytest.mark.parametrize('iteration', [3, 4])
def test_the_epoch_of_a_checkpoint_by_iterations_is_trained_again(
    config: Path, tmp_path: Path, iteration: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also after its last iteration, since MMEngine counts an epoch after that."""
    settings, part = tmp_path / 'settings.py', tmp_path / 'part'
    settings.write_text(
        f"_base_ = ['{config}']\ndefault_hooks = dict(checkpoint=dict(by_epoch=False))\n"
    )
    run_tool('train', settings, '--work-dir', tmp_path / 'whole', '--no-validate')
    part.mkdir()
    shutil.copy(tmp_path / 'whole' / f'iter_{iteration}.pth', part)
    capsys.readouterr()
    run_tool('train', settings, '--work-dir', part, '--no-validate', '--resume')
    expected = f'is of iteration {iteration}, before the end of an epoch, which MMEngine starts ag'
    assert expected in capsys.readouterr().out
    assert not (tmp_path / 'whole' / 'iter_7.pth').exists()
    assert (part / 'iter_7.pth').exists()
