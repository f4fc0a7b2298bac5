"""Values of ``--cfg-options``."""

from __future__ import annotations

from typing import Any

import pytest
from mmengine.config import DictAction

from mmshufflemix.option_values import read_value


@pytest.mark.parametrize(
    ('text', 'value'),
    [
        ('[traffic light,bus]', ['traffic light', 'bus']),
        ('[ traffic light , bus ]', ['traffic light', 'bus']),
        ('traffic light, bus', ['traffic light', 'bus']),
        ("('a b', 'c')", ('a b', 'c')),
        ("'a b', 'c'", ['a b', 'c']),
        ('"[traffic light]"', ['traffic light']),
        ('[(1, a b), [c d, ( e f,)]]', [(1, 'a b'), ['c d', ('e f',)]]),
        ('(1, 2), (3, 4)', [(1, 2), (3, 4)]),
        ("['a, b', c]", ['a, b', 'c']),
        ("[(x, 'a, (b'), c]", [('x', 'a, (b'), 'c']),
        ("[driver's seat, 5' 3, 'tis]", ["driver's seat", "5' 3", 'tis']),
        ('[bus (red), bus (blue, old)]', ['bus (red)', 'bus (blue, old)']),
        ('my (old, first) model.pth', 'my (old, first) model.pth'),
        ('[ ]', []),
        ('( )', ()),
    ],
)
def test_spaces_and_quotes(text: str, value: Any):
    assert read_value(text) == value


@pytest.mark.parametrize(
    'text',
    [
        *('1', '-2', '1e-3', '.5', 'true', 'False', 'None', 'none', '', 'abc', "'abc'", '"1"'),
        *('1,2', '1,', '(1,)', '[1]', '()', '[]', '(a)', 'a,b,None', '[true,1.5,x]', '[a,,b]'),
        *('[(1,2),(3,4)]', '[[a,b],c]', "['a','b']", '((),[])', '[1', 'a)', '{a}', 'a:b', 'a/b.c'),
    ],
)
def test_without_spaces_it_is_what_mmengine_reads(text: str):
    expected = DictAction._parse_iterable(text)
    for found in (read_value(text), read_value(f' {text.replace(",", " , ")} ')):
        assert repr(found) == repr(expected)


@pytest.mark.parametrize(
    'text', ['[1,2', '1,2]', '[(1,2]', '),(', '[a, (b]', '[(1, 2)), 3', '[1, 2)']
)
def test_brackets_that_do_not_match(text: str):
    with pytest.raises(ValueError, match='brackets that do not match in'):
        read_value(text)
