from __future__ import annotations

from pathlib import Path

import pytest
from mmengine.config import Config

from mmshufflemix.reproduce import Row
from mmshufflemix.reproduce.fingerprint import (
    differences,
    digest,
    flat_settings,
    read_fingerprint,
    write_fingerprint,
)
from mmshufflemix.reproduce.settings import row_config, shorten_schedule, with_seed
from tests.tiny_job import ROOT

CONFIGS = ROOT / 'configs'
ROW = Row('r', 'shufflemix', 'cifar100/preact18_shufflemix.py')


def test_seed_and_options_are_set():
    cfg, full = row_config(ROW, CONFIGS, options={'optim_wrapper.optimizer.lr': 0.5})
    cfg = with_seed(cfg, 7)
    assert (cfg.randomness.seed, cfg.optim_wrapper.optimizer.lr, full) == (7, 0.5, 200)


@pytest.mark.parametrize(
    ('epochs', 'milestones'),
    [(100, [50, 75, 90]), (20, [10, 15, 18]), (10, [5, 8, 9]), (3, [2, 2, 3]), (1, [1, 1, 1])],
)
def test_milestones_shrink_in_proportion(epochs: int, milestones: list[int]):
    """100, 150 and 180 of 200, rounded by hand."""
    cfg, full = row_config(ROW, CONFIGS, epochs)
    assert cfg.param_scheduler.milestones == milestones
    assert (cfg.train_cfg.max_epochs, full) == (epochs, 200)


def test_only_what_is_counted_in_epochs_shrinks():
    plain = Config(
        dict(
            train_cfg=dict(max_epochs=40, val_begin=20, val_interval=10),
            param_scheduler=[
                dict(type='LinearLR', begin=0, end=4, by_epoch=True, convert_to_iter_based=True),
                dict(type='LinearLR', end=62, by_epoch=False),
                dict(type='CosineAnnealingLR', T_max=36, begin=4, end=40, eta_min=1e-5),
                dict(type='StepLR', step_size=10, gamma=0.1),
            ],
        )
    )
    cfg = shorten_schedule(plain, 10)
    warm_up, in_steps, cosine, steps = cfg.param_scheduler
    assert (warm_up.begin, warm_up.end) == (0, 1)
    assert in_steps.end == 62
    assert (cosine.T_max, cosine.begin, cosine.end, cosine.eta_min) == (9, 1, 10, 1e-5)
    assert (steps.step_size, steps.gamma) == (3, 0.1)
    assert (cfg.train_cfg.val_begin, cfg.train_cfg.val_interval) == (5, 10)
    assert plain.train_cfg.max_epochs == 40


@pytest.mark.parametrize('epochs', [0, 200, 201, -1])
def test_a_length_that_is_no_shortening_is_refused(epochs: int):
    with pytest.raises(ValueError, match=f'--epochs {epochs} does not shorten .* give 1 to 199'):
        row_config(ROW, CONFIGS, epochs)


def test_training_by_iterations_is_refused(tmp_path: Path):
    config = tmp_path / 'c.py'
    config.write_text("train_cfg = dict(type='IterBasedTrainLoop', max_iters=10)\n")
    with pytest.raises(ValueError, match='needs training by epochs'):
        row_config(Row('r', 'm', str(config)), CONFIGS)


def test_fingerprint_notices_one_changed_setting():
    old, _ = row_config(ROW, CONFIGS)
    new, _ = row_config(ROW, CONFIGS, options={'optim_wrapper.optimizer.lr': 0.2})
    before, after = flat_settings(old), flat_settings(new)
    assert digest(before) != digest(after)
    assert differences(before, after) == ['optim_wrapper.optimizer.lr (0.1 -> 0.2)']
    assert differences(before, before) == []
    assert differences({'a': 1}, {'b': None}) == ['a (1 -> unset)', 'b (unset -> None)']


def test_fingerprint_is_about_the_result_only():
    cfg, _ = row_config(ROW, CONFIGS)
    before = digest(flat_settings(cfg))
    cfg.merge_from_dict(dict(work_dir='x', resume=True, launcher='slurm', log_level='DEBUG'))
    assert digest(flat_settings(cfg)) == before


def test_a_config_written_out_in_full_has_the_same_fingerprint(tmp_path: Path):
    """All rows are trained from such files."""
    for name in ('cifar100/preact18_shufflemix', 'voc07/mlgcn_shufflemix', 'cub/resnet34_baseline'):
        cfg, _ = row_config(Row('r', 'm', f'{name}.py', kept=0.5), CONFIGS)
        path = tmp_path / 'written.py'
        path.write_text(cfg.pretty_text)
        assert differences(flat_settings(cfg), flat_settings(Config.fromfile(path))) == []


def test_empty_and_full_containers_differ():
    def flat(value: object) -> dict:
        return flat_settings(Config(dict(a=value)))

    values = [[], {}, None, [None], [[]], 'x', ['x'], dict(b=1), 0, False]
    texts = {str(flat(value)) for value in values}
    assert len(texts) == len(values)


def test_fingerprint_file(tmp_path: Path):
    path = tmp_path / 'settings.json'
    assert read_fingerprint(path) is None
    settings = flat_settings(with_seed(row_config(ROW, CONFIGS)[0], 0))
    write_fingerprint(path, settings)
    assert read_fingerprint(path) == settings
    path.write_text(path.read_text().replace('"randomness.seed": 0', '"randomness.seed": 1'))
    with pytest.raises(ValueError, match='was changed by hand; move its folder away'):
        read_fingerprint(path)
