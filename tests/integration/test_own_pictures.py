"""From a folder of photographs and a CSV file to a tested model, by the tools alone."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path

import pytest
from mmengine.config import Config

from tests.integration.recording import recorded_mixing
from tests.own_pictures import write_photographs
from tests.tiny_job import ROOT
from tests.tool_runner import call_tool, run_tool

CLASSES = ('person', 'car', 'dog', 'chair')
CONFIGS = sorted((ROOT / 'configs' / 'custom').glob('*.py'))


def copy_configs(folder: Path, num_classes: int) -> Path:
    """Copy the configs and set the number of classes where a user does."""
    shutil.copytree(ROOT / 'configs' / '_base_', folder / 'configs' / '_base_')
    custom = shutil.copytree(ROOT / 'configs' / 'custom', folder / 'configs' / 'custom')
    base = folder / 'configs' / '_base_' / 'datasets' / 'mine_json.py'
    text, count = re.subn(
        '^num_classes = .*$', f'num_classes = {num_classes}', base.read_text(), flags=re.M
    )
    assert count == 1
    base.write_text(text)
    return custom


@pytest.mark.parametrize('name', [path.name for path in CONFIGS])
def test_the_number_of_classes_is_set_in_one_place(tmp_path: Path, name: str) -> None:
    cfg = Config.fromfile(copy_configs(tmp_path, 7) / name)
    assert cfg.data_preprocessor.num_classes == cfg.model.head.num_classes == 7
    assert cfg.model.head.loss.loss_weight == 1 / 7
    assert ('augments' in cfg.model.get('train_cfg', {})) == ('shufflemix' in name)
    for loader, file in (('train', 'train'), ('val', 'val'), ('test', 'test')):
        dataset = cfg[f'{loader}_dataloader'].dataset
        assert dataset.ann_file == f'{file}.json'
        assert dataset.get('test_mode', False) == (loader != 'train')


@pytest.fixture(scope='module')
def workplace(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 photographs under new names in data/mine/images, labels.csv and the configs."""
    folder = tmp_path_factory.mktemp('own')
    images = folder / 'data' / 'mine' / 'images'
    found = write_photographs(shared_data, images, CLASSES, 'holiday {:02d}'.format)
    rows = [[name, *(int(label in labels) for label in CLASSES)] for name, labels in found]
    with open(folder / 'labels.csv', 'w', newline='', encoding='utf-8-sig') as file:
        csv.writer(file, delimiter=';').writerows([['Picture', *CLASSES], *rows])
    copy_configs(folder, len(CLASSES))
    return folder


@pytest.mark.slow
def test_from_a_csv_to_a_tested_model(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace)
    call_tool(
        'convert_labels',
        'labels.csv',
        '--images',
        'data/mine/images',
        '-o',
        'all.json',
    )
    call_tool('split_dataset', 'all.json', '--images', 'data/mine/images', '-o', 'data/mine')
    parts = {
        part: json.loads(Path(f'data/mine/{part}.json').read_text())
        for part in ('train', 'val', 'test')
    }
    assert [len(part['data_list']) for part in parts.values()] == [24, 8, 8]
    for part in parts.values():
        assert part['metainfo']['classes'] == list(CLASSES)
        assert {label for row in part['data_list'] for label in row['gt_label']} == {0, 1, 2, 3}

    # No ImageNet weights, which are not part of the repository.
    small = ['--cfg-options', 'model.backbone.init_cfg=None', 'train_cfg.val_interval=1']
    for name, epochs in (('lite0_shufflemix', 2), ('mlgcn_lite0_shufflemix', 1)):
        config = f'configs/custom/{name}.py'
        with recorded_mixing() as plans:
            run_tool('train', config, *small, f'train_cfg.max_epochs={epochs}')
        assert len(plans) == 3 * epochs
        checkpoint = f'work_dirs/{name}/epoch_{epochs}.pth'
        run_tool('test', config, checkpoint, '--out', f'{name}.json', *small)
        records = json.loads(Path(f'{name}.json').read_text())
        found = [Path(record['img_path']).name for record in records]
        assert found == [row['img_path'] for row in parts['test']['data_list']]
        assert [record['gt_label'] for record in records] == [
            row['gt_label'] for row in parts['test']['data_list']
        ]
        assert all(len(record['pred_score']) == len(CLASSES) for record in records)

    wrong = [*small, 'model.head.num_classes=3', 'data_preprocessor.num_classes=3']
    with pytest.raises(
        ValueError, match='training set has 4 classes but the head has num_classes=3'
    ):
        run_tool('train', 'configs/custom/lite0_baseline.py', *wrong)
