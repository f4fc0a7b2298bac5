"""Weights that a training starts from and that are not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mmengine.config import Config

from mmshufflemix.starting_weights import check_starting_weights
from tests.tiny_job import ROOT, write_job
from tests.tool_runner import fail_tool


def pretrained(checkpoint: Any) -> dict[str, Any]:
    init_cfg = dict(type='Pretrained', checkpoint=checkpoint, prefix='backbone')
    return dict(model=dict(type='ImageClassifier', backbone=dict(init_cfg=init_cfg)))


@pytest.mark.parametrize(
    ('config', 'message'),
    [
        (
            pretrained('nope.pth'),
            "the file 'nope.pth' of the weights to start from (model.backbone.init_cfg.checkpoint "
            'in the config) does not exist; give the path of a .pth file, or '
            'model.backbone.init_cfg=None to start without',
        ),
        (
            dict(load_from='nope.pth', model=dict(type='ImageClassifier')),
            "the file 'nope.pth' of the weights to start from (load_from in the config) does not "
            'exist; give the path of a .pth file, or load_from=None to start without',
        ),
        (
            pretrained('elsewhere/lite0.pth'),
            "the file 'elsewhere/lite0.pth' of the weights to start from "
            '(model.backbone.init_cfg.checkpoint in the config) does not exist; '
            'write it with: python tools/lite0_weights.py elsewhere/lite0.pth',
        ),
        (dict(resume=True, load_from='nope.pth'), "checkpoint 'nope.pth' does not exist"),
    ],
)
def test_missing_weights_are_named_with_their_setting(
    config: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError) as error:
        check_starting_weights(Config(config))
    assert str(error.value).startswith(message)


def test_the_weights_of_the_shipped_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    fail_tool('train', ROOT / 'configs' / 'custom' / 'lite0_shufflemix.py')
    error = capsys.readouterr().err
    assert error.endswith('does not exist; write it with: python tools/lite0_weights.py\n')
    weights = tmp_path / 'work_dirs' / 'weights' / 'lite0.pth'
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b'')
    check_starting_weights(Config.fromfile(ROOT / 'configs/custom/lite0_shufflemix.py'))


def test_what_needs_no_file(tmp_path: Path) -> None:
    check_starting_weights(Config.fromfile(write_job(tmp_path)))
    for checkpoint in ('torchvision://resnet18', 'https://somewhere/x.pth', None):
        check_starting_weights(Config(pretrained(checkpoint)))
    parts = [dict(type='Constant', val=0.0), dict(type='Pretrained', checkpoint='http://x.pth')]
    check_starting_weights(Config(dict(model=dict(head=dict(init_cfg=parts)))))
