"""What the tools that go through pictures with a model have in common."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mmshufflemix.inference.sources import find_pictures
from mmshufflemix.option_types import add_cfg_options
from mmshufflemix.text import some

__all__ = ['add_inference_arguments', 'require_all', 'require_pictures']


def add_inference_arguments(parser: argparse.ArgumentParser) -> None:
    """Add model, pictures, thresholds, device and changes of the config."""
    parser.add_argument('config', help='config file')
    parser.add_argument('checkpoint', help='checkpoint file')
    parser.add_argument(
        'images', nargs='+', help='pictures, folders (with all below them) or quoted patterns'
    )
    parser.add_argument(
        '--threshold',
        default='0.5',
        metavar='NUMBER|FILE.json',
        help='lowest score of a label, or a file of one for each class, as '
        'tools/tune_thresholds.py writes it (default: 0.5)',
    )
    parser.add_argument('--device', help='such as cpu or cuda:1 (default: a GPU if there is one)')
    add_cfg_options(parser)


def require_pictures(images: Sequence[str]) -> list[str]:
    """Find the pictures of the command line.

    Raises:
        ValueError: If there are none.
    """
    pictures = find_pictures(images)
    if not pictures:
        raise ValueError(
            f'no pictures found in {some(images, limit=3)}; give files, folders or patterns.'
        )
    return pictures


def require_all(faults: Sequence[str], total: int) -> None:
    """End with an error if pictures were skipped.

    Args:
        faults: What was wrong with each.
        total: Number of pictures.

    Raises:
        ValueError: With the first faults.
    """
    if faults:
        raise ValueError(
            f'{len(faults)} of {total} pictures could not be read and were skipped '
            f'({some(faults, limit=3)}).'
        )
