from __future__ import annotations

from mmshufflemix.text import some


def test_the_first_few() -> None:
    assert some([]) == ''
    assert some(iter([1, 'b'])) == '1, b'
    assert some('abcdef') == 'a, b, c, d, e, ...'
    assert some('abc', limit=3) == 'a, b, c'
    assert some('abcd', limit=3) == 'a, b, c, ...'
