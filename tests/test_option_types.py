from __future__ import annotations

import argparse
from typing import Any

import pytest
import torch

from mmshufflemix.option_types import SettingsAction, available_device, number, whole_number


@pytest.mark.parametrize('text', ['0', '-1', '4', '1.5', 'x', '', '1' + 5000 * '0'])
def test_whole_numbers_out_of_range(text: str):
    with pytest.raises(argparse.ArgumentTypeError, match='a whole number from 1 to 3, got'):
        whole_number(1, 3)(text)


@pytest.mark.parametrize('text', ['0', '-1', '2.1', 'nan', 'inf', 'x', ''])
def test_numbers_out_of_range(text: str):
    with pytest.raises(argparse.ArgumentTypeError, match=r'a number from 0\.5 to 2, got'):
        number(0.5, 2)(text)


def test_ends_of_a_range_belong_to_it():
    assert [whole_number(1, 3)(text) for text in '13'] == [1, 3]
    assert [number(0.5, 2)(text) for text in ('.5', '2')] == [0.5, 2.0]


@pytest.mark.parametrize('text', ['meta', 'cpu:3', 'mps', 'cuda:', 'cuda:-1', 'cuda:x', '', 'CPU'])
def test_other_devices_are_refused(text: str):
    with pytest.raises(argparse.ArgumentTypeError, match='must be cpu, cuda or cuda:NUMBER, got'):
        available_device(text)


def test_a_missing_device_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.cuda, 'is_available', lambda: False)
    assert available_device('cpu') == 'cpu'
    with pytest.raises(argparse.ArgumentTypeError, match="'cuda' is not there.*no CUDA device"):
        available_device('cuda')
    monkeypatch.setattr(torch.cuda, 'is_available', lambda: True)
    monkeypatch.setattr(torch.cuda, 'device_count', lambda: 2)
    assert [available_device(name) for name in ('cuda', 'cuda:1')] == ['cuda', 'cuda:1']
    with pytest.raises(argparse.ArgumentTypeError, match=r"'cuda:2' is not there.*only 2"):
        available_device('cuda:2')


def read_options(*words: str) -> dict[str, Any]:
    parser = argparse.ArgumentParser()
    parser.add_argument('--cfg-options', nargs='+', action=SettingsAction)
    options: dict[str, Any] = parser.parse_args(['--cfg-options', *words]).cfg_options
    return options


def test_a_single_value_keeps_its_spaces():
    words = [
        'a=my model.pth',
        'b="dining table"',
        'c=[1, 2]',
        'd= 3',
        'e=(x, y)',
        'f=None',
        'g=',
        'h=a=b',
    ]
    assert read_options(*words) == {
        'a': 'my model.pth',
        'b': 'dining table',
        'c': [1, 2],
        'd': 3,
        'e': ('x', 'y'),
        'f': None,
        'g': '',
        'h': 'a=b',
    }


@pytest.mark.parametrize('words', [['a'], ['a', '=', '3'], ['=3'], ['a..b=3'], ['.a=3'], ['a =3']])
def test_what_is_no_setting(words: list[str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        read_options('b=1', *words)
    assert f'--cfg-options: {words[0]!r} is not KEY=VALUE, such as' in capsys.readouterr().err


def test_a_list_without_its_end(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        read_options('a.b=[1, 2')
    assert "a.b has brackets that do not match in '[1, 2'" in capsys.readouterr().err


def test_options_add_up():
    parser = argparse.ArgumentParser()
    parser.add_argument('-o', nargs='+', action=SettingsAction)
    assert parser.parse_args(['-o', 'a=1', 'b=2', '-o', 'a=3']).o == {'a': 3, 'b': 2}
