"""Export a trained model to an ONNX file, checked against the model."""

from __future__ import annotations

import argparse

from mmshufflemix.cli import new_parser, run_cli
from mmshufflemix.export import export_model
from mmshufflemix.option_types import add_cfg_options
from mmshufflemix.text import some


def parse_args() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument('config', help='config file')
    parser.add_argument('checkpoint', help='checkpoint file')
    parser.add_argument('-o', '--output', required=True, help='the .onnx file to write')
    parser.add_argument(
        '--size',
        nargs='+',
        type=int,
        metavar='N',
        help='height and width of the pictures, one number for both (default: what the test '
        'pipeline gives)',
    )
    parser.add_argument(
        '--threshold',
        default='0.5',
        metavar='NUMBER|FILE.json',
        help='lowest score of a label to note in the file, or a file of one for each class, as '
        'tools/tune_thresholds.py writes it (default: 0.5)',
    )
    add_cfg_options(parser)
    args = parser.parse_args()
    if args.size is not None and len(args.size) > 2:
        parser.error(f'--size takes one or two numbers, got {len(args.size)}')
    return args


def main() -> None:
    args = parse_args()
    size = (args.size[0], args.size[-1]) if args.size else None
    exported = export_model(
        args.config, args.checkpoint, args.output, size, args.threshold, args.cfg_options
    )
    if exported.unknown:
        print(
            f'note: the resize rule in the file leaves out {some(exported.unknown)} of the test '
            'pipeline; prepare pictures accordingly.'
        )
    print(f'pictures: {exported.metadata["resize"]}')
    print(f'operators: {", ".join(exported.operators)}')
    for batch, difference in exported.differences.items():
        print(f'largest difference from the model, batch of {batch}: {difference:.2g}')
    print(f'wrote {args.output}')


if __name__ == '__main__':
    run_cli(main)
