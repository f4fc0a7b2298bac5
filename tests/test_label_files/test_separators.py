"""Cells of several class names."""

from __future__ import annotations

import pytest

from mmshufflemix.label_files.separators import split_names


def test_the_first_separator_of_the_rule_counts() -> None:
    names, how = split_names(['a,b', 'c;d'])
    assert names == [('a,b',), ('c', 'd')]
    assert how == "divided by ';'; with another sign in it: 'a,b'"
    assert split_names(['a, b', 'c']) == ([('a', 'b'), ('c',)], "divided by ','")
    assert split_names(['a', '', 'c']) == ([('a',), (), ('c',)], 'at most one in each cell')
    assert split_names(['traffic light; bus', 'cat'])[0] == [('traffic light', 'bus'), ('cat',)]


def test_numbers_are_never_one_name() -> None:
    assert split_names(['1 2', '3', '']) == ([('1', '2'), ('3',), ()], 'divided by spaces')


@pytest.mark.parametrize('cells', [['0 1 0', '1 0 0'], ['0;1', '1;0;'], ['[0, 1]', '[1. 0.]']])
def test_flags_are_no_names(cells: list[str]) -> None:
    with pytest.raises(ValueError, match=r'each picture has [23] values of 0 and 1, .*CSV'):
        split_names(cells)


def test_lists_are_read() -> None:
    cells = [
        "['traffic light', 'cat']",
        '["it\'s", "\\u00e9clair"]',
        "['cat' 'a, b']",
        '[]',
        '',
        '[7.]',
    ]
    assert split_names(cells) == (
        [('traffic light', 'cat'), ("it's", '\u00e9clair'), ('cat', 'a, b'), (), (), ('7',)],
        'read as lists',
    )
    assert split_names(["{'cat', 'dog'}", "('cow',)"])[0] == [('cat', 'dog'), ('cow',)]
    assert split_names(['[unk]', 'cat'])[0] == [('[unk]',), ('cat',)]


@pytest.mark.parametrize(
    'cells', [['[cat, dog]', ''], ["['cat']", 'dog'], ['[]', 'dog'], ["[print('x')]", "['cat']"]]
)
def test_cells_that_only_look_like_lists(cells: list[str]) -> None:
    with pytest.raises(ValueError, match='looks like a list, but not all cells are lists'):
        split_names(cells)


def test_a_chosen_separator() -> None:
    assert split_names(['traffic light'], ';')[0] == [('traffic light',)]
    assert split_names(['a  b', 'c'], 'space') == ([('a', 'b'), ('c',)], 'divided by spaces')
    assert split_names(['a,b c'], ' ')[0] == [('a,b', 'c')]


@pytest.mark.parametrize(
    ('cells', 'known', 'expected'),
    [
        (['cat dog', 'cat'], ['cat', 'dog'], [('cat', 'dog'), ('cat',)]),
        (['traffic light', 'bus'], ['traffic light', 'bus'], [('traffic light',), ('bus',)]),
        (['red fox', 'cat dog'], ['red fox', 'cat', 'dog'], [('red fox',), ('cat', 'dog')]),
        (['tench, fish', 'cat'], ['tench, fish', 'cat'], [('tench, fish',), ('cat',)]),
        (['tench, fish', 'a|b'], ['tench, fish', 'a', 'b'], [('tench, fish',), ('a', 'b')]),
    ],
)
def test_given_classes_decide(cells: list[str], known: list[str], expected: list) -> None:
    assert split_names(cells, known=known)[0] == expected


@pytest.mark.parametrize(
    ('cells', 'known'),
    [
        (['traffic light', 'bus', ''], ()),
        # Even words that occur alone may be one name: orange, juice, orange juice.
        (['bus traffic', 'bus', 'traffic'], ()),
        (['traffic light', 'bus traffic'], ['traffic light', 'bus']),
    ],
)
def test_spaces_alone_are_asked_about(cells: list[str], known: list[str]) -> None:
    with pytest.raises(ValueError, match='have only spaces between them') as caught:
        split_names(cells, known=known)
    text = str(caught.value)
    open_cells = [cell for cell in cells if cell not in known]
    whole = {cell for cell in open_cells if cell}
    words = {word for cell in open_cells for word in cell.split()}
    for option, found in (('--separator ";"', whole), ('--separator space', words)):
        assert f'({len(found)} class' in text.split(option)[1]
        assert ', '.join(sorted(found)) in text.split(option)[1]
