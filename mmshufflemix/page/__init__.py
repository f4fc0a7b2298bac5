"""Self-contained HTML pages: text, tables, charts and pictures in one file."""

from mmshufflemix.page.document import Section, render_page, write_page
from mmshufflemix.page.pictures import embed_figure, embed_picture

__all__ = ['Section', 'embed_figure', 'embed_picture', 'render_page', 'write_page']
