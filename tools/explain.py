"""Show where in pictures a trained model finds its classes, as heat maps."""

from __future__ import annotations

import argparse
from pathlib import Path

from mmengine.config import DictAction

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.explain import METHODS, AnyHeadInferencer, require_package
from mmshufflemix.explain.run import explain_pictures
from mmshufflemix.files import check_writable
from mmshufflemix.inference import find_pictures
from mmshufflemix.inference.output import format_table
from mmshufflemix.text import some


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument('config', help='config file')
    parser.add_argument('checkpoint', help='checkpoint file')
    parser.add_argument(
        'images', nargs='+', help='pictures, folders (with all below them) or quoted patterns'
    )
    parser.add_argument(
        '-o', '--output', required=True, metavar='FOLDER', help='folder of the drawn pictures'
    )
    parser.add_argument(
        '--classes',
        nargs='+',
        metavar='NAME',
        help='classes to explain (default: each predicted one, or the highest if there is none)',
    )
    parser.add_argument(
        '--threshold',
        default='0.5',
        metavar='NUMBER|FILE.json',
        help='lowest score of a predicted class, or a file of one for each class, as '
        'tools/tune_thresholds.py writes it (default: 0.5)',
    )
    parser.add_argument(
        '--method', choices=list(METHODS), default='gradcam', help='(default: gradcam)'
    )
    parser.add_argument(
        '--layer',
        help='layer of the features, by name or number of the stage (default: the last feature '
        'map of the backbone)',
    )
    parser.add_argument(
        '--raw', action='store_true', help='write the heat maps to an .npz file for each picture'
    )
    parser.add_argument('--device', help='such as cpu or cuda:1 (default: a GPU if there is one)')
    parser.add_argument(
        '--cfg-options', nargs='+', action=DictAction, help='change settings of the config'
    )
    return parser.parse_args()


def main() -> None:
    args = parse_args()
    require_package()
    check_writable(Path(args.output) / 'picture.png')
    pictures = find_pictures(args.images)
    if not pictures:
        raise ValueError(
            f'no pictures found in {some(args.images, limit=3)}; give files, folders or patterns.'
        )
    inferencer = AnyHeadInferencer(
        args.config, args.checkpoint, args.device, args.threshold, options=args.cfg_options
    )
    layer = args.layer
    if layer is not None and layer.removeprefix('-').isdigit():
        layer = int(layer)
    explained, faults = explain_pictures(
        inferencer, pictures, args.output, args.classes, args.method, layer, args.raw
    )
    if explained:
        print(format_table(explained))
        print(f'wrote {len(explained)} pictures to {args.output}')
    if faults:
        raise ValueError(
            f'{len(faults)} of {len(pictures)} pictures could not be read and were skipped '
            f'({some(faults, limit=3)}).'
        )


if __name__ == '__main__':
    run_cli(main)
