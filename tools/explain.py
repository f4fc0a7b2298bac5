"""Show where in pictures a trained model finds its classes, as heat maps."""

from __future__ import annotations

import argparse
from pathlib import Path

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.explain import METHODS, AnyHeadInferencer, require_package
from mmshufflemix.explain.run import explain_pictures
from mmshufflemix.files import check_writable
from mmshufflemix.inference.command import (
    add_inference_arguments,
    require_all,
    require_pictures,
)
from mmshufflemix.inference.output import format_table


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    add_inference_arguments(parser)
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
    return parser.parse_args()


def main() -> None:
    args = parse_args()
    require_package()
    check_writable(Path(args.output) / 'picture.png')
    pictures = require_pictures(args.images)
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
    require_all(faults, len(pictures))


if __name__ == '__main__':
    run_cli(main)
