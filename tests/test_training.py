"""Training by a config: what is refused before the first step."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch.utils.data import DataLoader

from mmshufflemix.hooks.train_check_hook import check_batches
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
