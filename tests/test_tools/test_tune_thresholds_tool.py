"""tools/tune_thresholds.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mmshufflemix.inference import threshold_vector
from tests.tool_runner import call_tool, fail_tool

NAMES = ['cat', '=dog', 'owl']


def write_records(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(records))
    return path


def make_records(count: int = 40) -> list[dict[str, Any]]:
    """Class 0 is right above 0.3, class 1 above 0.6, class 2 has two positives."""
    rng = np.random.default_rng(1)
    records = []
    for index in range(count):
        positive = [rng.random() < 0.5, rng.random() < 0.5, index < 2]
        low = np.array([0.3, 0.6, 0.5]) * positive
        high = np.where(positive, 1, [0.3, 0.6, 0.5])
        scores = low + (high - low) * rng.random(3) * 0.99
        record = {'sample_idx': index, 'pred_score': scores.tolist()}
        record['gt_label'] = [int(k) for k in np.flatnonzero(positive)]
        record['gt_label_difficult'] = []
        records.append(record)
    # A difficult cell that would spoil class 0 if it were counted.
    records.append({'pred_score': [0.999, 0, 0], 'gt_label': [], 'gt_label_difficult': [0]})
    return records


def test_thresholds_table_and_gain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_records(tmp_path / 'records.json', make_records())
    names = tmp_path / 'names.txt'
    names.write_text('\n'.join(NAMES) + '\n')
    out = tmp_path / 'new' / 'thresholds.json'
    call_tool('tune_thresholds', file, '-o', out, '--names', names)
    record = json.loads(out.read_text())
    assert list(record['thresholds']) == NAMES
    cat, dog, owl = record['thresholds'].values()
    assert 0.2 < cat < 0.4
    assert 0.5 < dog < 0.7
    assert owl == record['shared_threshold']
    assert record['shared'] == ['owl']
    assert record['rule'] == {'precision': None, 'min_support': 10, 'shrinkage': 0}
    assert (record['images'], record['positives']['owl']) == (41, 2)
    assert threshold_vector(out, NAMES).tolist() == [cat, dog, owl]
    measures = record['held_out']['measures']
    assert measures['per class']['OF1'] > measures['0.5']['OF1'] + 0.05
    printed = capsys.readouterr().out
    assert 'owl            2' in printed
    assert '(shared: too few positives)' in printed
    gain = 100 * (measures['per class']['OF1'] - measures['0.5']['OF1'])
    assert next(line for line in printed.splitlines() if line.startswith('gain')).endswith(
        f'{gain:+.2f}'
    )


def test_precision_and_numbers_for_names(tmp_path: Path) -> None:
    records = make_records()
    file = write_records(tmp_path / 'records.json', records)
    options = ['--precision', '0.8', '--folds', '0', '--min-support', '2']
    call_tool('tune_thresholds', file, '-o', tmp_path / 'out.json', *options)
    record = json.loads((tmp_path / 'out.json').read_text())
    assert list(record['thresholds']) == ['0', '1', '2']
    assert record['held_out'] is None
    for k, threshold in enumerate(record['thresholds'].values()):
        chosen = [r for r in records[:-1] if r['pred_score'][k] >= threshold]
        right = sum(k in r['gt_label'] for r in chosen)
        assert right / len(chosen) >= 0.8
    assert threshold_vector(tmp_path / 'out.json', NAMES).tolist() == list(
        record['thresholds'].values()
    )


def test_names_of_a_checkpoint_and_a_config(tmp_path: Path) -> None:
    file = write_records(tmp_path / 'records.json', make_records())
    torch.save({'meta': {'dataset_meta': {'classes': NAMES}}}, tmp_path / 'model.pth')
    dataset = {'type': 'MultiLabelDataset', 'metainfo': {'classes': NAMES}, 'pipeline': []}
    (tmp_path / 'config.py').write_text(f'test_dataloader = dict(dataset={dataset})\n')
    for source in ('model.pth', 'config.py'):
        call_tool(
            'tune_thresholds', file, '-o', tmp_path / 'out.json', '--names', tmp_path / source
        )
        assert list(json.loads((tmp_path / 'out.json').read_text())['thresholds']) == NAMES


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'pred_score': [0.1, float('nan'), 0.2]}, r'1 of 3 scores of record 0 are NaN'),
        ({'pred_score': [0.1, 0.2], 'gt_label': []}, r'record 1 has shape \(3,\), expected \(2,\)'),
        ({'gt_label': [3]}, r'gt_label of record 0 is \[3\]'),
        ({'pred_score': None}, r'is not a list of predictions with pred_score'),
    ],
)
def test_broken_records(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    records = make_records()
    records[0].update(change)
    file = write_records(tmp_path / 'records.json', records)
    with pytest.raises(ValueError, match=message):
        call_tool('tune_thresholds', file, '-o', tmp_path / 'out.json')
    assert not (tmp_path / 'out.json').exists()


def test_mistakes_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = write_records(tmp_path / 'records.json', make_records())
    empty = write_records(tmp_path / 'empty.json', [])
    metrics = tmp_path / 'metrics.json'
    metrics.write_text('{"multi-label/mAP": 1}')
    pickled = tmp_path / 'records.pkl'
    pickled.write_bytes(b'\x80\x04}.')
    nameless = tmp_path / 'names.txt'
    nameless.write_text('one\none\n')
    for arguments, message in (
        ([tmp_path / 'nope.json'], 'do not exist; write them with tools/test.py --out'),
        ([empty], 'is not a list of predictions'),
        ([metrics], 'is not a list of predictions'),
        ([pickled], 'is not a JSON file'),
        ([good, '--folds', '1'], 'folds must be from 2'),
        ([good, '--precision', '2'], 'precision must be above 0'),
        ([good, '--names', nameless], 'classes must be distinct'),
        ([good, '--names', tmp_path / 'nope.txt'], 'does not exist or is not a file'),
    ):
        fail_tool('tune_thresholds', *arguments, '-o', tmp_path / 'out.json')
        error = capsys.readouterr().err
        assert error.startswith('error: ')
        assert message in error
        assert error.count('\n') == 1
    assert not (tmp_path / 'out.json').exists()
