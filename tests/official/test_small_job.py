"""Train, test and resume with whatever stack is installed, as a user of it does.

``make test-official`` runs this with OpenMMLab's own last releases.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import mmpretrain
import pytest
import torch

from mmshufflemix.checkpoint import load_checkpoint_file
from tests.tiny_job import ROOT, write_job

TOOLS = {
    'own': ROOT / 'tools',
    'mmpretrain': Path(mmpretrain.__file__).parent / '.mim' / 'tools',
}


def run(tool: Path, *arguments: str | Path) -> str:
    command = [sys.executable, str(tool), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout + result.stderr


def test_one_stack_is_installed() -> None:
    names = {str(distribution.metadata['Name']).lower() for distribution in distributions()}
    assert ('mmpretrain' in names) != ('onedl-mmpretrain' in names)


@pytest.mark.slow
@pytest.mark.parametrize('origin', ['own', 'mmpretrain'])
def test_train_test_resume(tmp_path: Path, origin: str) -> None:
    train, test = TOOLS[origin] / 'train.py', TOOLS[origin] / 'test.py'
    config, whole, parts = write_job(tmp_path), tmp_path / 'whole', tmp_path / 'parts'
    plain = [] if origin == 'own' else ['--no-pin-memory', '--no-persistent-workers']
    three = ['--cfg-options', 'train_cfg.max_epochs=3']
    out = run(train, config, '--work-dir', whole, *plain, *three)
    assert 'backbone.layer4' in out
    run(train, config, '--work-dir', parts, *plain)
    assert 'resumed epoch: 2' in run(train, config, '--work-dir', parts, '--resume', *plain, *three)
    one, two = (load_checkpoint_file(d / 'epoch_3.pth') for d in (whole, parts))
    for name, value in one['state_dict'].items():
        assert torch.equal(value, two['state_dict'][name]), name

    metrics = tmp_path / 'metrics.json'
    items = ['--out', metrics, '--out-item', 'metrics']
    run(test, config, whole / 'epoch_3.pth', '--work-dir', tmp_path, *items)
    assert 0 <= json.loads(metrics.read_text())['accuracy/top1'] <= 100
