"""Names of ``--cfg-options``."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mmengine.config import Config

from mmshufflemix.option_names import check_names, merge_options, unknown_names
from mmshufflemix.prepare import read_config
from mmshufflemix.reproduce import TABLES
from tests.tiny_job import ROOT, write_job


@pytest.fixture(scope='module')
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_job(tmp_path_factory.mktemp('job'))


def sentences(path: Path, options: dict[str, Any]) -> list[str]:
    before = Config.fromfile(path)
    after = Config.fromfile(path)
    after.merge_from_dict(options)
    return list(unknown_names(before.to_dict(), after.to_dict(), options))


@pytest.mark.parametrize(
    ('name', 'nearest'),
    [
        ('optim_wraper.optimizer.lr', 'optim_wrapper.optimizer.lr'),
        ('experiment_nam', 'experiment_name'),
        ('model.trian_cfg.augments.ratio', 'model.train_cfg.augments.ratio'),
        ('model.train_cfg.augmets.ratio', 'model.train_cfg.augments.ratio'),
        ('model.train_cfg.augments.rato', 'model.train_cfg.augments.ratio'),
        ('optim_wrapper.optimizer.weight_deca', 'optim_wrapper.optimizer.weight_decay'),
        ('train_dataloader.dataset.pipeline.1.probb', 'train_dataloader.dataset.pipeline.1.prob'),
        ('env_cfg.cudnn_benchmrk', 'env_cfg.cudnn_benchmark'),
        ('auto_scale_lr.enabel', 'auto_scale_lr.enable'),
    ],
)
def test_the_nearest_name_is_given(config: Path, name: str, nearest: str):
    [sentence] = sentences(config, {name: 1})
    assert sentence.startswith(f'--cfg-options sets {name}, but ')
    assert f'; correct the name to {nearest}, or leave' in sentence


def test_without_a_near_name_none_is_given(config: Path):
    assert sentences(config, {'zzz.a': 1}) == [
        "--cfg-options sets zzz.a, but the config has no 'zzz' and nothing reads one; correct the "
        'name, or leave it out'
    ]


@pytest.mark.parametrize(
    'options',
    [
        {'experiment_name': 'x', 'runner_type': 'mmshufflemix.SmallImageRunner'},
        {'find_unused_parameters': True, 'sync_bn': 'torch', 'model_wrapper_cfg.type': 'X'},
        {'model.backbone.init_cfg.type': 'Pretrained', 'model.backbone.init_cfg.checkpoint': 'x'},
        {'model.backbone.init_cfg.prefix': 'backbone.'},
        {'model.head.loss.type': 'LabelSmoothLoss', 'model.head.loss.label_smooth_val': 0.1},
        {'model.train_cfg.probs': [1.0]},
        {'train_dataloader.dataset.indices': 7, 'test_dataloader.dataset.data_prefix.img': 'x'},
        {'optim_wrapper.optimizer.type': 'AdamW', 'optim_wrapper.optimizer.betas': (0.9, 0.9)},
        {'optim_wrapper.clip_grad.max_norm': 1, 'optim_wrapper.accumulative_counts': 2},
        {'optim_wrapper.type': 'AmpOptimWrapper', 'optim_wrapper.loss_scale': 'dynamic'},
        {
            'optim_wrapper.type': 'OptimWrapper',
            'optim_wrapper.paramwise_cfg.custom_keys.bias.lr_mult': 0.1,
        },
        {'default_hooks.checkpoint.save_best': 'auto', 'default_hooks.mine.type': 'EMAHook'},
        {'env_cfg.dist_cfg.timeout': 9, 'auto_scale_lr.base_batch_size': 16},
        {'param_scheduler.convert_to_iter_based': True, 'param_scheduler.begin': 1},
        {'custom_hooks.0.priority': 'LOW', 'val_evaluator.prefix': 'a'},
        {'model.head.type': 'NoSuchHead', 'model.head.whatever': 1},
        {'runner_type': 'FlexibleRunner', 'strategy.type': 'DDPStrategy'},
        {'env_cfg._delete_': True, 'model.train_cfg._delete_': True, 'val_cfg._delete_': True},
    ],
)
def test_new_names_that_something_reads(config: Path, options: dict[str, Any]):
    assert sentences(config, options) == []


def leaves(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, f'{place}.{key}')
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for index, item in enumerate(value):
            yield from leaves(item, f'{place}.{index}')
    else:
        yield place


@pytest.mark.parametrize(
    'folder', sorted(path.name for path in (ROOT / 'configs').iterdir() if path.name[0] != '_')
)
def test_no_name_of_a_config_would_be_refused_as_a_new_one(folder: str):
    """Configs that run have right names only; none of them is known from the config itself."""
    for path in sorted((ROOT / 'configs' / folder).glob('*.py'))[::4]:
        cfg = Config.fromfile(path).to_dict()
        names = [name for key, value in cfg.items() for name in leaves(value, key)]
        assert len(names) > 20
        assert list(unknown_names(dict.fromkeys(cfg), cfg, names)) == []


def test_an_augment_is_switched_on(tmp_path: Path):
    path = ROOT / 'configs' / 'digits' / 'resnet_baseline.py'
    assert 'train_cfg' not in Config.fromfile(path).model
    options = {'model.train_cfg.augments.type': 'mmshufflemix.ShuffleMix'}
    assert sentences(path, {**options, 'model.train_cfg.augments.mode': 'hard'}) == []
    [sentence] = sentences(path, {**options, 'model.train_cfg.augments.moed': 'hard'})
    assert 'correct the name to model.train_cfg.augments.mode,' in sentence


def test_the_rows_of_all_tables_have_known_names():
    rows = [row for table in TABLES.values() for row in table.rows if row.options]
    assert rows
    for row in rows:
        assert sentences(ROOT / 'configs' / row.config, dict(row.options)) == []


def test_the_options_of_the_documents_are_known():
    call = re.compile(r'tools/\w+\.py (configs/[\w/]+\.py)[^\n`]*--cfg-options([^\n`]*)')
    calls = [
        found
        for document in [ROOT / 'README.md', *(ROOT / 'docs').glob('*.md')]
        for found in call.findall(document.read_text())
    ]
    for config, given in calls:
        options = dict(word.split('=') for word in given.split() if '=' in word)
        if (ROOT / config).is_file():
            assert sentences(ROOT / config, options) == []
            check_names(Config.fromfile(ROOT / config), options)
    assert len(calls) > 2


@pytest.mark.parametrize('way', ['merge', 'read'])
def test_other_tools_warn(config: Path, way: str, monkeypatch: pytest.MonkeyPatch):
    lines: list[tuple[str, int]] = []
    monkeypatch.setattr(
        'mmshufflemix.option_names.print_log',
        lambda text, logger, level: lines.append((text, level)),
    )
    options = {'optim_wraper.optimizer.lr': 0.5, 'optim_wrapper.optimizer.lr': 0.25}
    if way == 'merge':
        cfg = Config.fromfile(config)
        merge_options(cfg, options)
    else:
        cfg = read_config(str(config), options)
    assert cfg.optim_wrapper.optimizer.lr == 0.25
    [(text, level)] = lines
    assert text.endswith('leave it out.')
    assert level == logging.WARNING


def test_a_name_that_leads_into_a_list_needs_a_number(config: Path):
    with pytest.raises(ValueError, match=r'hooks is a list of 1; .* custom_hooks\.0\.priority'):
        merge_options(
            Config({'custom_hooks': [{'type': 'EMAHook'}]}), {'custom_hooks.priority': 'LOW'}
        )


@pytest.mark.parametrize('place', ['param_scheduler', 'a.b'])
def test_a_dict_in_place_of_a_list_needs_no_number(place: str):
    content = [{'type': 'LinearLR'}, {'type': 'StepLR'}]
    cfg = Config({'param_scheduler': content, 'a': {'b': content}})
    merge_options(cfg, {f'{place}.type': 'PolyLR', f'{place}._delete_': True})
    assert (cfg.a.b if '.' in place else cfg.param_scheduler) == {'type': 'PolyLR'}
