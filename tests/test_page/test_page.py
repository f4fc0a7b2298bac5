from __future__ import annotations

import base64
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from mmshufflemix.page import Section, embed_figure, embed_picture, render_page, write_page


class Tags(HTMLParser):
    """Every tag and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ('meta', 'img'):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data.strip())


def test_all_text_is_escaped_and_all_tags_are_closed():
    evil = '<script>alert("1")</script>'
    page = render_page(
        evil,
        {evil: evil},
        [Section(evil, [evil], columns=[evil], rows=[[evil]], code=evil)] * 3,
    )
    parsed = Tags(page)
    assert parsed.open == []
    assert 'script' not in {tag for tag, _ in parsed.tags}
    # Title twice, both sides of the fact, and six places in each section (one in the contents).
    assert parsed.texts.count(evil) == 2 + 2 + 3 * 6


def test_numbers_are_aligned_right_and_words_are_not():
    cells = ['12', '-0.5', '97.1 %', '1,024', '\u2013', '3D model', '', '-']
    parsed = Tags(render_page('t', {}, [Section('s', columns=cells, rows=[cells])]))
    classes = [attrs.get('class') for tag, attrs in parsed.tags if tag == 'td']
    assert classes == ['number'] * 5 + [None] * 3


def test_nothing_but_the_page_is_needed(tmp_path):
    figure = Figure()
    figure.subplots().plot([1, 2])
    picture = embed_picture(Image.new('RGB', (400, 200), 'red'), 'a "red" one')
    write_page(
        tmp_path / 'page.html',
        'title',
        {},
        [Section('s', figures=[embed_figure(figure, 'line')], pictures=[(picture, 'red')])],
    )
    parsed = Tags((tmp_path / 'page.html').read_text())
    sources = [attrs['src'] for tag, attrs in parsed.tags if tag == 'img']
    assert len(sources) == 2
    assert all(source.startswith('data:image/') for source in sources)
    assert [attrs['alt'] for tag, attrs in parsed.tags if tag == 'img'] == ['line', 'a "red" one']
    assert [path.name for path in tmp_path.iterdir()] == ['page.html']


@pytest.mark.parametrize('mode', ['RGB', 'L', 'P', 'RGBA', 'CMYK', 'I;16'])
def test_pictures_of_every_kind_become_small_jpeg(tmp_path, mode):
    source = Image.new(mode, (500, 250))
    content = re.search(r'base64,([^"]+)', embed_picture(source, 'd', side=100)).group(1)
    with Image.open(io.BytesIO(base64.b64decode(content))) as small:
        assert (small.format, small.size) == ('JPEG', (100, 50))


def test_a_file_is_turned_upright(tmp_path):
    pixels = np.zeros((40, 80, 3), np.uint8)
    picture = Image.fromarray(pixels)
    exif = picture.getexif()
    exif[274] = 6
    picture.save(tmp_path / 'a.jpg', exif=exif)
    content = re.search(r'base64,([^"]+)', embed_picture(tmp_path / 'a.jpg', 'd')).group(1)
    with Image.open(io.BytesIO(base64.b64decode(content))) as small:
        assert small.size == (40, 80)


def test_a_broken_file_is_an_os_error(tmp_path):
    (tmp_path / 'a.jpg').write_text('no picture')
    with pytest.raises(OSError, match=r'a\.jpg'):
        embed_picture(tmp_path / 'a.jpg', 'd')
