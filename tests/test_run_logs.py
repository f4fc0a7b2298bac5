from __future__ import annotations

from pathlib import Path

from mmshufflemix.run_logs import is_training, read_starts, read_validations


def write_log(work_dir: Path, time: str, text: str, name: str = 'scalars.json') -> None:
    path = work_dir / time / 'vis_data' / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_validations_of_several_starts(tmp_path: Path) -> None:
    assert read_validations(tmp_path) == {}
    first = '{"a": 3, "b": NaN, "step": 2}\n{"a": 4, "step": 3}\n{"a": 5, "st'
    write_log(tmp_path, '20260101_000001', first)
    second = '{"a": 1, "time": 9, "step": 1}\n{"a": 2, "step": 2}\n[1]\n{"step": 9}\n'
    write_log(tmp_path, '20260101_000000', second)
    found = read_validations(tmp_path)
    assert list(found) == [1, 2, 3]
    assert (found[1], found[2]['a'], found[3]) == ({'a': 1.0}, 3.0, {'a': 4.0})


def test_training_steps_are_no_validations(tmp_path: Path) -> None:
    lines = (
        '{"loss": 1, "epoch": 1, "step": 5}\n{"loss": 1, "iter": 7, "step": 7}\n{"a": 2, "step": 7}'
    )
    write_log(tmp_path, '20260101_000000', lines)
    assert read_validations(tmp_path) == {7: {'a': 2.0}}
    (records,) = read_starts(tmp_path).values()
    assert [is_training(record) for record in records] == [True, True, False]


def test_the_copy_is_read_where_there_is_no_scalars_file(tmp_path: Path) -> None:
    time = '20260101_000000'
    write_log(tmp_path, time, '{"a": 1, "step": 1}', f'{time}.json')
    assert read_starts(tmp_path) == {time: [{'a': 1, 'step': 1}]}
    write_log(tmp_path, time, '{"a": 2, "step": 1}')
    assert read_validations(tmp_path) == {1: {'a': 2.0}}


def test_folders_without_records_are_left_out(tmp_path: Path) -> None:
    write_log(tmp_path, '20260101_000000', '\n{broken\n' + '[' * 100_000)
    (tmp_path / '20260101_000001' / 'vis_data').mkdir(parents=True)
    (tmp_path / 'vis_data').mkdir()
    assert read_starts(tmp_path) == {}
