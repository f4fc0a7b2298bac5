from __future__ import annotations

import math
from pathlib import Path

from mmshufflemix.report.history import join_starts, main_measure
from mmshufflemix.report.log_text import read_log_facts
from mmshufflemix.run_logs import read_starts
from tests.test_report.runs import write_start


def test_a_resumed_run_counts_every_epoch_once(tmp_path: Path) -> None:
    write_start(tmp_path, '20260101_000000', [1, 2, 3])
    write_start(tmp_path, '20260102_000000', [3, 4], loss=2.0)
    history = join_starts(read_starts(tmp_path))
    assert [record['iter'] for record in history.training] == [5, 10, 15, 20, 25, 30, 35, 40]
    assert (history.by_epoch, history.epoch_length, history.last) == (True, 10, 4)
    assert history.steps('loss')[:4] == [(0.5, 1.0), (1.0, 1.0), (1.5, 0.5), (2.0, 0.5)]
    assert history.epoch_means('loss') == [(1, 1.0), (2, 0.5), (3, 2 / 3), (4, 0.5)]
    assert history.measured('multi-label/mAP') == [(1, 10), (2, 20), (3, 30), (4, 40)]
    assert history.best('multi-label/mAP') == (4, 40)
    assert history.starts == ['20260101_000000', '20260102_000000']


def test_a_run_that_began_anew_replaces_the_old_one(tmp_path: Path) -> None:
    write_start(tmp_path, '20260101_000000', [1, 2, 3])
    write_start(tmp_path, '20260102_000000', [1], length=20)
    history = join_starts(read_starts(tmp_path))
    assert [record['iter'] for record in history.training] == [10, 20]
    assert list(history.validations) == [1]
    assert history.starts == ['20260102_000000']
    write_start(tmp_path, '20260103_000000', [2])
    history = join_starts(read_starts(tmp_path))
    assert history.starts == ['20260102_000000', '20260103_000000']


def test_iterations_without_epochs() -> None:
    first = [{'loss': float(i), 'iter': i, 'step': i} for i in (1, 2, 3)]
    second = [{'loss': 9.0, 'iter': 3, 'step': 3}, {'a': 1.0, 'step': 3}, {'a': 5.0, 'step': 0}]
    history = join_starts({'a': first, 'b': second})
    assert (history.by_epoch, history.epoch_length, history.last) == (False, None, 3)
    assert history.steps('loss') == [(1, 1), (2, 2), (3, 9)]
    assert history.epoch_means('loss') == []
    assert history.validations == {3: {'a': 1.0}}
    assert history.starts == ['a', 'b']
    assert join_starts({'a': first, 'b': first}).starts == ['b']


def test_learning_rates_prefer_the_one_of_the_config() -> None:
    step = {'epoch': 1, 'iter': 2, 'step': 2}
    for rates, expected in (
        ({'lr': 0.1, 'base_lr': 1.0}, [(1.0, 1.0)]),
        ({'lr': 0.1}, [(1.0, 0.1)]),
        ({'b.lr': 0.2, 'a.lr': 0.3}, [(1.0, 0.3)]),
        ({}, []),
    ):
        assert join_starts({'a': [{**step, **rates}]}).rates() == expected


def test_hostile_records_are_passed_over() -> None:
    good = {'loss': 1.0, 'epoch': 1, 'iter': 2, 'step': 2}
    bad = [{**good, 'epoch': 'x'}, {**good, 'iter': None}, {**good, 'epoch': -1}]
    assert len(join_starts({'a': [good]}).training) == 1
    assert join_starts({'a': bad}).last in (0, 2)
    empty = join_starts({})
    assert (empty.last, empty.steps('loss'), empty.best('a')) == (0, [], None)


def test_best_of_a_loss_is_the_lowest_and_nan_is_never_best() -> None:
    records = [{'loss': x, 'a': y, 'step': n} for n, x, y in ((1, 2.0, math.nan), (2, 1.0, 3.0))]
    history = join_starts({'a': records})
    assert history.best('loss') == (2, 1.0)
    assert history.best('a') == (2, 3.0)
    assert join_starts({'a': records[:1]}).best('a') is None


def test_main_measure() -> None:
    found = {1: {'loss': 1.0, 'x': 1.0, 'accuracy/top5': 1.0, 'accuracy/top1': 1.0}}
    assert main_measure(found) == 'accuracy/top1'
    assert main_measure(found, 'accuracy/top5') == 'accuracy/top5'
    assert main_measure(found, 'nothing') == 'accuracy/top1'
    assert main_measure({1: {'loss': 1.0, 'x': 1.0}}) == 'x'
    assert main_measure({}) is None


def test_versions_and_time_of_the_text_logs(tmp_path: Path) -> None:
    for start, minute in (('20260101_000000', 1), ('20260102_000000', 10)):
        path = tmp_path / start / f'{start}.log'
        path.parent.mkdir()
        path.write_text(
            '2026/01/01 00:00:00 - mmengine - INFO - \n    Python: 3.11.7 (main)\n    seed: 7\n'
            f'\n2026/01/01 00:{minute:02d}:30 - mmengine - INFO - end\n'
        )
    facts, seconds = read_log_facts(tmp_path, ['20260101_000000', '20260102_000000', 'none'])
    assert facts == {'Python': '3.11.7', 'seed': '7'}
    assert seconds == 90 + 630
    assert read_log_facts(tmp_path, []) == ({}, None)
