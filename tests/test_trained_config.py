from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mmengine.config import Config

from mmshufflemix.inference.build import build_model
from mmshufflemix.prepare import preprocessor_settings
from mmshufflemix.trained_config import preprocessing_changes, trained_config
from tests.tiny_job import ROOT, write_job
from tests.tool_runner import run_tool


def checkpoint(text: Any) -> dict[str, Any]:
    return {'meta': {'cfg': text}}


@pytest.mark.parametrize(
    'path', sorted((ROOT / 'configs').rglob('*shufflemix*.py')), ids=lambda path: path.stem
)
def test_reads_what_mmengine_writes(path: Path):
    cfg = Config.fromfile(path)
    assert (
        trained_config(checkpoint(cfg.pretty_text))
        == Config.fromstring(cfg.pretty_text, '.py').to_dict()
    )


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        (
            "a = dict(b=-1.5, c=(1, None), d={2: [True, '#']})",
            {'a': {'b': -1.5, 'c': (1, None), 'd': {2: [True, '#']}}},
        ),
        ('a = 1\nb = print(2)\nc = a\nimport os\nd = dict(e=os.getcwd())\nf = 3', {'a': 1, 'f': 3}),
        ('a = {**{}}\nb = {[]: 1}\nc = 10 ** 10 ** 10\nd = f"{1}"', {}),
        ('a = dict(**x)\nb = dict([1])\ne = 1', {'e': 1}),
        ('a = (', {}),
        ('a = ' + '[' * 5000 + ']' * 5000, {}),
        ('a = ' + '-' * 100_000 + '1', {}),
        ('a = "\0"', {}),
        (b'a = 1', {}),
        (None, {}),
    ],
)
def test_reads_values_and_runs_nothing(text: Any, expected: dict[str, Any]):
    assert trained_config(checkpoint(text)) == expected


@pytest.mark.parametrize('content', [None, [], {}, {'meta': None}, {'meta': {}}])
def test_a_checkpoint_without_config_has_no_settings(content: Any):
    assert trained_config(content) == {}
    assert preprocessing_changes(content, {'data_preprocessor': {'mean': [1, 2, 3]}}) == []


@pytest.mark.parametrize(
    ('trained', 'used', 'keys'),
    [
        ('dict(mean=[1, 2], std=[3, 4])', {'mean': (1.0, 2.0), 'std': [3, 4], 'to_rgb': False}, []),
        ('dict(mean=[1, 2], std=[3, 4])', {'mean': [1, 5], 'std': [3, 4]}, ['mean=[1.0, 2.0]']),
        ('dict(mean=[1], to_rgb=True)', {'mean': [1]}, ['to_rgb=True']),
        ('dict(num_classes=3)', {'mean': [1], 'std': [2]}, ['mean=None', 'std=None']),
        ('dict()', {'mean': [1]}, []),
    ],
)
def test_what_differs_is_named(trained: str, used: dict[str, Any], keys: list[str]):
    texts = (f'data_preprocessor = {trained}', f'model = dict(data_preprocessor={trained})')
    for text in texts:
        for cfg in ({'data_preprocessor': used}, {'model': {'data_preprocessor': used}}):
            found = preprocessing_changes(checkpoint(text), cfg)
            assert len(found) == len(keys)
            for sentence, key in zip(found, keys, strict=True):
                assert f'trained with data_preprocessor.{key} and this config has' in sentence


def test_settings_of_the_model_replace_those_at_the_top():
    """As in MMEngine; what it would drop has been merged in the configs of our runs."""
    trained = checkpoint(
        'data_preprocessor = dict(mean=[1], std=[2])\n'
        'model = dict(data_preprocessor=dict(mean=[3]))'
    )
    assert preprocessing_changes(trained, {'data_preprocessor': {'mean': [3]}}) == []
    used = {'data_preprocessor': {'mean': [3], 'std': [2]}}
    [sentence] = preprocessing_changes(trained, used)
    assert 'data_preprocessor.std=None and this config has [2.0]' in sentence
    merged = {'model': {'data_preprocessor': {'mean': [3], 'std': [2]}}, 'data_preprocessor': {}}
    assert preprocessing_changes(checkpoint(f'model = {merged["model"]}'), merged) == []


@pytest.mark.parametrize(
    ('cfg', 'expected'),
    [
        ({'data_preprocessor': {'a': 1}}, {'a': 1}),
        ({'data_preprocessor': {'a': 1}, 'model': {'data_preprocessor': None}}, {'a': 1}),
        ({'data_preprocessor': {'a': 1}, 'model': {'data_preprocessor': {'b': 2}}}, {'b': 2}),
        ({'data_preprocessor': [1], 'model': 'odd'}, {}),
        ({}, {}),
    ],
)
def test_the_settings_that_count(cfg: dict[str, Any], expected: dict[str, Any]):
    assert preprocessor_settings(cfg) == expected


def test_testing_and_building_warn_of_other_preprocessing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    config, work_dir = write_job(tmp_path), tmp_path / 'run'
    run_tool('train', config, '--work-dir', work_dir)
    path = str(work_dir / 'epoch_2.pth')
    for changed in (False, True):
        options = {'data_preprocessor.mean': [1, 2, 3]} if changed else {}
        arguments = ['--cfg-options', 'data_preprocessor.mean=[1,2,3]'] if changed else []
        for act in (
            lambda options=options: build_model(str(config), path, 'cpu', options),
            lambda arguments=arguments: run_tool('test', config, path, *arguments),
        ):
            capfd.readouterr()
            act()
            warned = 'has [1.0, 2.0, 3.0], so that the model sees other colours'
            assert (warned in ''.join(capfd.readouterr())) == changed
