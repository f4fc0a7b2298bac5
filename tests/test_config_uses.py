"""Lines of config files that use a variable."""

from __future__ import annotations

from pathlib import Path

import pytest
from mmengine.config import Config

from mmshufflemix.config_uses import lines_of_use, sources

OLD_BASE = """
size = 224
names = ['a']
epochs = 300
pipeline = [dict(type='Resize', scale=size)]
"""
OLD = """
_base_ = ['base.py']
work = f'{_base_.names}/x'
size = [{{_base_.size}}]
width = '{{$WIDTH:8}}'
half = size * 2
only = dict(size=3, epochs=lambda epochs: epochs + 1)
several = [size for size in (1, 2)] + [
    width,
    width,
]
end = '{{ fileBasenameNoExtension }}'
names = [*_base_.names, 'b']
folder = '{{ _base_.names }}/y'
"""
NEW = """
from mmengine.config import read_base
with read_base():
    from .parts.new_base import *
T_max = epochs - 5
"""


def uses(path: Path, *names: str) -> list[str]:
    files = sources(Config.fromfile(path))
    return [lines_of_use(files, name) for name in names]


def test_bases_by_name(tmp_path: Path):
    (tmp_path / 'base.py').write_text(OLD_BASE)
    path = tmp_path / 'old.py'
    path.write_text(OLD)
    assert uses(path, 'size', 'names', 'width', 'half', 'end') == [
        'line 6 of old.py, line 5 of base.py',
        'lines 3, 14 of old.py',
        'lines 9, 10 of old.py',
        '',
        '',
    ]
    # An argument of that name is another variable.
    assert uses(path, 'epochs') == ['']


def test_bases_by_import(tmp_path: Path):
    (tmp_path / 'parts').mkdir()
    (tmp_path / 'parts' / 'new_base.py').write_text(OLD_BASE)
    path = tmp_path / 'new.py'
    path.write_text(NEW)
    assert uses(path, 'epochs', 'size', 'T_max') == [
        'line 5 of new.py',
        'line 5 of new_base.py',
        '',
    ]


def test_bases_of_an_installed_package(tmp_path: Path):
    path = tmp_path / 'job.py'
    path.write_text("_base_ = ['mmpretrain::_base_/datasets/cifar10_bs16.py']\n")
    [lines] = uses(path, 'train_pipeline')
    assert lines.endswith(' of cifar10_bs16.py')


def test_nothing_is_run(tmp_path: Path):
    path = tmp_path / 'once.py'
    path.write_text(f"_base_ = []\nimport os\nos.mkdir(r'{tmp_path / 'made'}')\na = 1\nb = a\n")
    assert uses(path, 'a') == ['line 5 of once.py']


@pytest.mark.parametrize('suffix', ['.json', '.yaml'])
def test_files_without_expressions(tmp_path: Path, suffix: str):
    path = tmp_path / f'config{suffix}'
    path.write_text('{"a": 1, "b": 1}')
    assert sources(Config.fromfile(path)) == {}
    assert sources(Config(dict(a=1))) == {}
