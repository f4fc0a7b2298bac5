"""Options that set a variable which the config file has used already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mmengine.config import Config

from mmshufflemix.option_names import check_names
from mmshufflemix.prepare import read_config
from tests.tiny_job import ROOT, write_job


@pytest.fixture(scope='module')
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_job(tmp_path_factory.mktemp('job'))


COPIED = """
_base_ = ['BASE']
batch = 4
views = [dict(type='RandomFlip', prob=0.25)]
root = 'photographs'
unused = 'aside'
epochs = 9
train_dataloader = dict(batch=batch, dataset=dict(data_root=root, pipeline=views))
param_scheduler = dict(type='CosineAnnealingLR', T_max=epochs - 5)
val_dataloader = dict(num_workers=4, dataset=dict(data_root=root))
"""


@pytest.mark.parametrize(
    ('name', 'value', 'places'),
    [
        ('root', 'x', 'set train_dataloader.dataset.data_root, val_dataloader.dataset.data_root i'),
        # The same number elsewhere is another setting.
        ('batch', 8, 'set train_dataloader.batch instead'),
        ('views.0.prob', 0.5, 'set train_dataloader.dataset.pipeline.0.prob instead'),
        ('views', [], 'set train_dataloader.dataset.pipeline instead'),
    ],
)
def test_variables_that_the_file_has_copied_are_refused(
    config: Path, tmp_path: Path, name: str, value: Any, places: str
):
    path = tmp_path / 'copied.py'
    path.write_text(COPIED.replace('BASE', str(config)))
    with pytest.raises(ValueError, match=f'sets {name}, which .* copied .*; {places}'):
        read_config(str(path), {name: value})
    cfg = read_config(str(path), {'unused': 'b', 'train_dataloader.dataset.data_root': 'c'})
    assert (cfg.unused, cfg.train_dataloader.dataset.data_root) == ('b', 'c')


@pytest.mark.parametrize('name', ['epochs', 'tests.size'])
def test_variables_of_which_something_is_made_are_refused(config: Path, tmp_path: Path, name: str):
    path = tmp_path / 'derived.py'
    # As long as the other one, so that nothing in it has the value.
    text = COPIED.replace('BASE', str(config))
    path.write_text(
        f"{text}tests = dict(size=3)\ntest_dataloader = dict(batch=2 * tests['size'])\n"
    )
    line = {'epochs': 9, 'tests.size': 12}[name]
    reason = rf'used when it was read \(line {line} of derived\.py\), so that this changes nothing'
    with pytest.raises(ValueError, match=rf'sets {name}, which .* {reason}; set what is made of'):
        read_config(str(path), {name: 99})


def test_the_variables_of_the_own_configs():
    """Only those are refused that no tool reads; what the tools read stays settable."""
    path = ROOT / 'configs' / 'custom' / 'mlgcn_lite0_shufflemix.py'
    cfg = Config.fromfile(path)
    refused = set()
    for name in cfg:
        try:
            check_names(cfg, [name])
        except ValueError:
            refused.add(name)
    variables = {'num_classes', 'data_root', 'train_pipeline', 'test_pipeline', 'mine'}
    assert refused == {*variables, 'vis_backends'}
    # The number of classes is used in both files.
    used = r'lines 12, 15 of mlgcn_lite0_shufflemix\.py, line 8 of mine_json\.py'
    with pytest.raises(ValueError, match=used):
        check_names(cfg, ['num_classes'])
