from __future__ import annotations

import pytest
from mmengine.config import Config

from mmshufflemix.reproduce import TABLES, Row, Table, find_table, register_table
from mmshufflemix.reproduce.fingerprint import differences, flat_settings
from mmshufflemix.reproduce.settings import row_config
from tests.tiny_job import ROOT

CONFIGS = ROOT / 'configs'


def paper(table: str, row: str, metric: str) -> tuple[float, float | None]:
    found = next(item for item in TABLES[table].rows if item.name == row)
    return found.paper[metric].mean, found.paper[metric].std


@pytest.mark.parametrize(
    ('table', 'row', 'metric', 'expected'),
    [
        ('cifar10', 'preact34_manifold_mixup', 'accuracy/top1', (95.57, 0.155)),
        ('cifar10', 'wide18_2_shufflemix', 'accuracy/top1', (96.36, 0.037)),
        ('cifar100', 'preact18_shufflemix', 'accuracy/top1', (80.02, 0.163)),
        ('cifar100', 'wide18_2_baseline', 'accuracy/top1', (76.90, 0.099)),
        ('tiny', 'preact34_dropout', 'accuracy/top5', (81.50, None)),
        ('tiny', 'wide18_2_shufflemix', 'accuracy/top1', (67.80, None)),
        ('finegrained', 'cars_resnet34_input_mixup', 'accuracy/top1', (92.76, None)),
        ('finegrained', 'aircraft_resnet50_shufflemix', 'accuracy/top1', (92.41, None)),
        ('robustness', 'preact18_nfm', 'white/0.3', (33.84, None)),
        ('robustness', 'wide18_2_shufflemix_nfm', 'salt_pepper/0.02', (75.83, None)),
        ('robustness', 'wide18_2_input_mixup', 'clean', (81.07, None)),
        ('ratio', 'shufflemix_hard_r0.375', 'accuracy/top1', (79.92, None)),
        ('ratio', 'shufflemix_r0.875', 'accuracy/top1', (79.46, None)),
        ('alpha', 'input_mixup_alpha8', 'accuracy/top1', (75.33, None)),
        ('alpha', 'manifold_mixup_alpha0.5', 'accuracy/top1', (79.18, None)),
        ('threshold', 'mlgcn_m0.4', 'multi-label/mAP', (94.63, None)),
        ('voc07', 'mlgcn_shufflemix', 'multi-label/mAP', (94.6, None)),
        ('voc07', 'resnet101_shufflemix', 'multi-label/AP_sofa', (86.7, None)),
        ('voc07', 'mlgcn_baseline', 'multi-label/AP_bottle', (80.3, None)),
    ],
)
def test_numbers_of_the_paper(table, row, metric, expected):
    assert paper(table, row, metric) == expected


def test_average_precisions_have_the_mean_that_the_paper_states():
    for row in TABLES['voc07'].rows:
        values = [value.mean for key, value in row.paper.items() if '/AP_' in key]
        assert len(values) == 20
        assert sum(values) / 20 == pytest.approx(row.paper['multi-label/mAP'].mean, abs=0.1)


def test_sweeps_contain_the_numbers_of_the_main_tables():
    soft = paper('cifar100', 'preact18_shufflemix', 'accuracy/top1')[0]
    assert paper('ratio', 'shufflemix_r0.5', 'accuracy/top1')[0] == soft
    for method in ('input_mixup', 'manifold_mixup', 'shufflemix'):
        main = paper('cifar100', f'preact18_{method}', 'accuracy/top1')[0]
        assert paper('alpha', f'{method}_alpha1', 'accuracy/top1')[0] == main
        assert paper('robustness', f'preact18_{method}', 'clean')[0] == main


def test_every_table_has_its_rows():
    counts = {name: len(table.rows) for name, table in TABLES.items()}
    assert counts == {
        'cifar10': 15,
        'cifar100': 15,
        'tiny': 15,
        'finegrained': 24,
        'sparsity': 60,
        'robustness': 12,
        'ratio': 14,
        'alpha': 15,
        'threshold': 10,
        'voc07': 4,
        'voc07_small': 10,
        'cifar100_small': 7,
    }


@pytest.mark.parametrize('table', TABLES.values(), ids=list(TABLES))
def test_every_row_has_a_config_that_reads(table: Table):
    for row in table.rows:
        assert (CONFIGS / row.config).is_file()
    row_config(table.rows[-1], CONFIGS)


@pytest.mark.parametrize('table', ['ratio', 'alpha', 'threshold', 'robustness'])
def test_a_row_trained_for_another_table_is_the_same_experiment(table: str):
    """Row for row: what runs in the other table's folder has the settings of its row there."""
    shared = [row for row in TABLES[table].rows if row.home is not None]
    assert shared
    for row in shared:
        home = {item.name: item for item in TABLES[row.home].rows}
        other = home.get(row.home_name or row.name)
        if other is None:
            # The paper has no such row in its table of CIFAR-100, only under noise.
            assert row.method in ('nfm', 'shufflemix_nfm', 'shufflemix_hard')
            continue
        ours, theirs = (row_config(item, CONFIGS)[0] for item in (row, other))
        assert differences(flat_settings(ours), flat_settings(theirs)) == []


def test_overrides_reach_the_augment():
    rows = {row.name: row for name in ('ratio', 'alpha') for row in TABLES[name].rows}
    hard = row_config(rows['shufflemix_hard_r0.25'], CONFIGS)[0].model.train_cfg.augments
    assert (hard.mode, hard.ratio) == ('hard', 0.25)
    manifold = row_config(rows['manifold_mixup_alpha4'], CONFIGS)[0].model.train_cfg.augments
    assert (manifold.type, manifold.alpha) == ('ManifoldMixup', 4.0)
    threshold = {row.name: row for row in TABLES['threshold'].rows}
    for name, expected in (('resnet101_m0.1', 0.1), ('resnet101_m0.2', 0.2), ('mlgcn_m0.5', 0.5)):
        augment = row_config(threshold[name], CONFIGS)[0].model.train_cfg.augments
        assert augment.label_threshold == expected


def test_a_part_of_each_class():
    row = next(row for row in TABLES['sparsity'].rows if row.name == 'cars_shufflemix_30')
    plain = Config.fromfile(CONFIGS / 'cars' / 'resnet34_shufflemix.py')
    cfg, _ = row_config(row, CONFIGS)
    assert cfg.train_dataloader.dataset.type == 'ClassSubset'
    assert cfg.train_dataloader.dataset.fraction == 0.3
    assert cfg.train_dataloader.dataset.dataset == plain.train_dataloader.dataset
    assert cfg.test_dataloader == plain.test_dataloader


def test_options_fit_a_table_with_parts_of_sets_too():
    row = next(row for row in TABLES['sparsity'].rows if row.name == 'cub_shufflemix_50')
    cfg, _ = row_config(row, CONFIGS, options={'train_dataloader.dataset.data_root': 'mine'})
    assert cfg.train_dataloader.dataset.dataset.data_root == 'mine'
    assert 'data_root' not in cfg.train_dataloader.dataset


def test_names_are_unique_and_known():
    with pytest.raises(ValueError, match="table 'cifar10' exists"):
        register_table(TABLES['cifar10'])
    twice = Row('same', 'm', 'c.py')
    with pytest.raises(ValueError, match='two of its rows'):
        register_table(Table('new', '', TABLES['cifar10'].metrics, (twice, twice)))
    assert 'new' not in TABLES
    with pytest.raises(ValueError, match="no table 'cifar'; choose one of cifar10, cifar100"):
        find_table('cifar')
