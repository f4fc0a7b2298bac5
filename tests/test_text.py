from __future__ import annotations

from mmshufflemix.text import printable, shorten, some


def test_the_first_few() -> None:
    assert some([]) == ''
    assert some(iter([1, 'b'])) == '1, b'
    assert some('abcdef') == 'a, b, c, d, e, ...'
    assert some('abc', limit=3) == 'a, b, c'
    assert some('abcd', limit=3) == 'a, b, c, ...'


def test_text_of_files_stays_on_one_line_and_steers_no_terminal() -> None:
    assert printable('a\0b\ud800ü漢') == 'a?b?ü漢'
    assert printable(' a\n\tb  \x1b[31m') == 'a b ?[31m'
    assert (
        printable('\u0645\u06cc\u200c\u0631\u0648\u0645') == '\u0645\u06cc\u200c\u0631\u0648\u0645'
    )


def test_a_long_text_is_cut() -> None:
    assert shorten('abcdef', 6) == 'abcdef'
    assert shorten('abcdefg', 6) == 'abc...'
