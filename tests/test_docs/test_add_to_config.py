"""The pieces of config in docs/add_to_config.md do what stands beside them."""

from __future__ import annotations

from pathlib import Path

import pytest
from mmengine.config import Config
from mmpretrain.registry import HOOKS, MODELS

import mmshufflemix
from tests.test_docs.documents import blocks
from tests.tiny_job import ROOT

DOCUMENT = ROOT / 'docs' / 'add_to_config.md'
SNIPPETS = blocks(DOCUMENT, 'python')


def read(folder: Path, text: str, base: str = '') -> Config:
    below = folder / 'base.py'
    plain = ROOT / 'configs' / 'digits' / 'resnet_baseline.py'
    below.write_text(f"_base_ = ['{plain}']\n{base}")
    path = folder / 'config.py'
    path.write_text(f"_base_ = ['base.py']\n{text}")
    return Config.fromfile(path)


@pytest.mark.parametrize('number', range(len(SNIPPETS)))
def test_it_can_be_built(number: int, tmp_path: Path) -> None:
    cfg = read(tmp_path, SNIPPETS[number])
    if 'train_cfg' in SNIPPETS[number]:
        model = MODELS.build({**cfg.model, 'data_preprocessor': cfg.data_preprocessor})
        augments = model.data_preprocessor.batch_augments.augments
        assert any(isinstance(augment, mmshufflemix.ShuffleMix) for augment in augments)
    else:
        hooks = [HOOKS.build(hook) for hook in cfg.custom_hooks]
        assert [hook.schedule.keys() for hook in hooks] == [{81}]


def test_what_becomes_of_the_augments_of_the_base(tmp_path: Path) -> None:
    own = "dict(type='mmshufflemix.ShuffleMix')"
    several = "model = dict(train_cfg=dict(augments=[dict(type='CutMix', alpha=0.2)]))"
    single = "model = dict(train_cfg=dict(augments=dict(type='CutMix', alpha=0.2)))"
    line = 'model = dict(train_cfg=dict(augments={}))'
    deleting = "dict(_delete_=True, type='mmshufflemix.ShuffleMix')"

    def augments(mine: str, base: str) -> object:
        return read(tmp_path, line.format(mine), base).model.train_cfg.augments

    wanted = {'type': 'mmshufflemix.ShuffleMix'}
    assert augments(f'[{own}]', several) == [wanted]
    assert augments(f'[{own}]', single) == [wanted]
    assert augments(deleting, several) == augments(deleting, single) == wanted
    assert augments(own, single) == {**wanted, 'alpha': 0.2}
    with pytest.raises(TypeError, match='cannot inherit from base'):
        augments(own, several)
