"""Unpack CIFAR-100 from pictures of tiles into one PNG file an image, one folder a class.

Training can read the tiles as they are (dataset type CIFARTiles); this is for other programs.
"""

from __future__ import annotations

from functools import partial

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.datasets.unpack_tiles import unpack_tiles

from rich.progress import track


def main() -> None:
    parser = new_parser(__doc__)
    parser.add_argument('source', help='folder with train/<class>.webp and test/<class>.webp')
    parser.add_argument('target', help='folder to create: {train,test}/<class>/<index>.png')
    args = parser.parse_args()
    count = unpack_tiles(args.source, args.target, partial(track, description='unpacking'))
    print(f'{args.target}: {count} images')


if __name__ == '__main__':
    run_cli(main)
