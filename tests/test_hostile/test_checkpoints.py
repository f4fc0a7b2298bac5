"""Checkpoints of strangers: no code runs, nothing is written, one sentence says why."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from mmshufflemix.checkpoint import load_checkpoint_file
from mmshufflemix.checkpoint_content import check_weights, checkpoint_classes
from tests.test_hostile.tool_call import call_tool, error_of
from tests.test_inference.models import write_model, write_pictures
from tests.tiny_job import write_job


class Program:
    """Makes a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self.mark,)


def evil_file(folder: Path) -> tuple[Path, Path]:
    """Write a checkpoint with a program in it; also return the file that the program makes."""
    mark, path = folder / 'it-ran', folder / 'evil.pth'
    torch.save({'state_dict': {'weight': Program(mark)}, 'meta': {}}, path)
    pickle.loads(pickle.dumps(Program(mark)))
    assert mark.exists(), 'the attack does not work, so that the test shows nothing'
    mark.unlink()
    return path, mark


def test_no_tool_runs_the_program_of_a_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    evil, mark = evil_file(tmp_path)
    config, _ = write_model(tmp_path / 'model')
    job = write_job(tmp_path / 'job')
    picture = write_pictures(tmp_path / 'pictures', 1)[0]
    work, options = ['--work-dir', 'work'], '--cfg-options'
    weights = ['model.backbone.init_cfg.type=Pretrained', 'model.backbone.init_cfg.checkpoint=']
    calls: list[tuple[str, list[Any]]] = [
        ('predict', [config, evil, picture, '--out', 'out.csv']),
        ('explain', [config, evil, picture, '-o', 'out']),
        ('export_onnx', [config, evil, '-o', 'out.onnx']),
        ('tune_thresholds', ['none.json', '-o', 'out.json', '--names', evil]),
        ('convert_official', [evil, 'out.pth']),
        ('lite0_weights', ['out.pth', '--source', evil]),
        ('robustness', [job, evil, '--out', 'out.json', *work]),
        ('test', [job, evil, '--out', 'out.json', *work]),
        ('train', [job, '--resume', evil, *work]),
        ('train', [job, *work, options, f'load_from={evil}']),
        ('train', [job, *work, options, weights[0], f'{weights[1]}{evil}']),
    ]
    for name, arguments in calls:
        sentence = error_of(call_tool(capsys, name, *arguments))
        assert 'could run a program' in sentence, (name, sentence)
        assert not mark.exists(), name
    assert not [path for path in tmp_path.iterdir() if path.name.startswith('out')]


def test_a_packed_checkpoint_is_not_unpacked(tmp_path: Path) -> None:
    whole, packed = tmp_path / 'whole.pth', tmp_path / 'packed.pth'
    torch.save({'state_dict': {'weight': torch.zeros(2**20)}}, whole)
    load_checkpoint_file(whole)
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(packed, 'w', 8) as target:
        for name in source.namelist():
            target.writestr(name, source.read(name))
    assert packed.stat().st_size < whole.stat().st_size / 100
    with pytest.raises(ValueError, match=r'packed\.pth.* is damaged or not a checkpoint'):
        load_checkpoint_file(packed)


@pytest.mark.parametrize(
    'checkpoint',
    [
        [1, 2],
        {'state_dict': [1]},
        {'state_dict': {'a': 5}},
        {'state_dict': {3: torch.zeros(1)}},
        {'state_dict': {'a': torch.zeros(2).to_sparse()}},
        {'state_dict': {'a': torch.zeros(2, device='meta')}},
    ],
)
def test_weights_that_are_none(
    checkpoint: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match=r'give a \.pth file that training wrote'):
        check_weights(checkpoint)
    torch.save(checkpoint, tmp_path / 'odd.pth')
    config, _ = write_model(tmp_path / 'model')
    picture = write_pictures(tmp_path / 'pictures', 1)[0]
    assert 'checkpoint' in error_of(
        call_tool(capsys, 'predict', config, tmp_path / 'odd.pth', picture)
    )


def test_plain_weights_pass() -> None:
    check_weights({'state_dict': {'a': torch.zeros(1), 'b._extra_state': {'any': 'thing'}}})
    check_weights({'a': torch.zeros(1), 'epoch': 3})


def test_odd_weights_without_a_state_dict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, checkpoint = write_model(tmp_path / 'model')
    weights = load_checkpoint_file(checkpoint)['state_dict']
    torch.save({**weights, next(iter(weights)): 5, 7: 8}, tmp_path / 'odd.pth')
    picture = write_pictures(tmp_path / 'pictures', 1)[0]
    sentence = error_of(call_tool(capsys, 'predict', config, tmp_path / 'odd.pth', picture))
    assert 'of type int that is no plain tensor' in sentence


@pytest.mark.parametrize('meta', [None, 5, {'dataset_meta': 5}, {'dataset_meta': {}}])
def test_metadata_without_names(meta: Any) -> None:
    assert checkpoint_classes({'meta': meta}) is None


@pytest.mark.parametrize('names', ['cat', {'cat': 1}, [None], [['cat']], 5])
def test_class_names_that_are_none(names: Any) -> None:
    with pytest.raises(ValueError, match='class names in the checkpoint are no list of names'):
        checkpoint_classes({'meta': {'dataset_meta': {'classes': names}}})


def test_class_names_can_be_written() -> None:
    names = checkpoint_classes({'meta': {'dataset_meta': {'classes': ('a\ud800', 7)}}})
    assert names == ['a\\ud800', '7']
